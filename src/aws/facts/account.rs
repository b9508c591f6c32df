//! Who asks, from where, and what a bucket's name stands for. Must never guess a role's path.

use super::field;
use crate::{
    aws::{Aws, failed, label::Labels},
    cloud::Caller,
    contract::{Class, CloudError},
};
use aws_config::BehaviorVersion;
use aws_sdk_s3::error::SdkError;
use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use std::{convert::Infallible, net::IpAddr};

pub(super) async fn caller(aws: &Aws) -> Result<Caller, CloudError> {
    let call = "sts:GetCallerIdentity";
    let identity = aws.sts().get_caller_identity().send().await.map_err(failed(call))?;
    let account = field(call, "Account", identity.account)?;
    let arn = field(call, "Arn", identity.arn)?;
    let principal = match assumed_role(&arn) {
        None => arn,
        // The session's ARN leaves out the role's path, and an access entry takes the role's ARN with it only.
        Some(role) => {
            let call = "iam:GetRole";
            let found = aws.iam().get_role().role_name(role).send().await.map_err(failed(call))?;
            field(call, "Role", found.role)?.arn
        }
    };
    Ok(Caller { account, principal })
}

/// Name of the role in `arn:aws:sts::123456789012:assumed-role/NAME/SESSION`.
fn assumed_role(arn: &str) -> Option<&str> {
    let (_, rest) = arn.split_once(":assumed-role/")?;
    rest.split('/').next()
}

/// Where AWS tells callers their public address, as plain text.
pub const CHECK_ADDRESS: &str = "https://checkip.amazonaws.com";

/// Asked without credentials, over the same connector as everything else, so that proxies and the sandbox count.
pub(super) async fn caller_address(aws: &Aws) -> Result<String, CloudError> {
    let call = "checkip:GetAddress";
    let error = |class, code: &str, message: String| CloudError::new(call, class, code, message);
    let config = aws.config();
    let client = config
        .http_client()
        .ok_or_else(|| error(Class::Unsupported, "NoHttpClient", "the configuration has no HTTP client".to_owned()))?;
    let mut operation = Operation::builder()
        .service_name("checkip")
        .operation_name("GetAddress")
        .behavior_version(BehaviorVersion::latest())
        .http_client(client)
        .endpoint_url(CHECK_ADDRESS)
        .no_auth()
        .no_retry()
        .interceptor(Labels::new("checkip"));
    if let Some(timeouts) = config.timeout_config() {
        operation = operation.timeout_config(timeouts.clone());
    }
    if let Some(sleep) = config.sleep_impl() {
        operation = operation.sleep_impl(sleep);
    }
    if let Some(time) = config.time_source() {
        operation = operation.time_source(time);
    }
    let operation = operation
        .serializer(|()| Ok(HttpRequest::empty()))
        .deserializer(|response: &HttpResponse| {
            let text = response.body().bytes().map(|body| String::from_utf8_lossy(body).trim().to_owned());
            Ok::<_, OrchestratorError<Infallible>>((response.status().as_u16(), text.unwrap_or_default()))
        })
        .build();
    let (status, text) = operation.invoke(()).await.map_err(|failure| {
        error(Class::Outage, "NotReached", format!("{CHECK_ADDRESS}: {}", crate::aws::codes::chain(&failure)))
    })?;
    match text.parse::<IpAddr>() {
        Ok(address) if status == 200 => Ok(address.to_string()),
        _ => Err(error(
            Class::Outage,
            "UnreadableAnswer",
            format!("{CHECK_ADDRESS} answered HTTP {status} and no address"),
        )),
    }
}

/// Region of a bucket, wherever it is; `None` where there is none of that name.
pub(super) async fn bucket(aws: &Aws, name: &str) -> Result<Option<String>, CloudError> {
    let call = "s3:HeadBucket";
    match aws.s3().head_bucket().bucket(name).send().await {
        Ok(found) => Ok(Some(found.bucket_region.unwrap_or_else(|| aws.region.clone()))),
        Err(refusal) => {
            let elsewhere = moved(&refusal).map(str::to_owned);
            let error = failed(call)(refusal);
            match (error.class, elsewhere) {
                (Class::NotFound, _) => Ok(None),
                (_, Some(region)) => Ok(Some(region)),
                (_, None) => Err(error),
            }
        }
    }
}

/// S3 answers for a bucket of another region with a redirect that names it.
fn moved<E>(refusal: &SdkError<E, HttpResponse>) -> Option<&str> {
    let response = refusal.raw_response().filter(|response| [301, 307, 400].contains(&response.status().as_u16()))?;
    response.headers().get("x-amz-bucket-region")
}

#[cfg(test)]
mod tests {
    use super::assumed_role;

    #[test]
    fn a_session_names_its_role() {
        let sso = "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Admin_0a1b/jane@example.com";
        assert_eq!(assumed_role(sso), Some("AWSReservedSSO_Admin_0a1b"));
        assert_eq!(assumed_role("arn:aws:iam::123456789012:user/ops/jane"), None);
        assert_eq!(assumed_role("arn:aws:iam::123456789012:root"), None);
    }
}
