//! From an SDK error to ours: AWS's codes to classes by the only table. Must never guess: a code that is not in it stays
//! `Unknown` with its name.

mod table;

pub use table::class;

use super::connector::Endpoint;
use crate::contract::{Class, CloudError, Residue};
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_sts::{
    error::{ProvideErrorMetadata, SdkError},
    operation::RequestId,
};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use std::error::Error;

/// Turns an SDK error of `call` (`ec2:CreateVpc`) into ours: `.map_err(failed("ec2:CreateVpc"))?`
pub fn failed<E>(call: &'static str) -> impl FnOnce(SdkError<E, HttpResponse>) -> CloudError
where
    E: ProvideErrorMetadata + Error + 'static,
    SdkError<E, HttpResponse>: RequestId,
{
    move |error| {
        let request_id = error.request_id().or_else(|| written_id(error.raw_response()?)).map(str::to_owned);
        let (class, code, message) = match &error {
            SdkError::ServiceError(refusal) => match error.code() {
                Some(code) => {
                    let message = error.message().unwrap_or("").to_owned();
                    (class(call, code, &message), code.to_owned(), message)
                }
                None => without_code(call, refusal.raw()),
            },
            SdkError::ResponseError(refusal) => {
                (Class::Outage, "UnreadableAnswer".to_owned(), unreadable(refusal.raw(), &error))
            }
            SdkError::TimeoutError(_) => (Class::Outage, "Timeout".to_owned(), chain(&error)),
            SdkError::DispatchFailure(_) | SdkError::ConstructionFailure(_) if let Some(lack) = lack(&error) => {
                (Class::Expired, "NoCredentials".to_owned(), chain(lack))
            }
            SdkError::DispatchFailure(_) => (Class::Outage, "NotReached".to_owned(), chain(&error)),
            _ => (Class::Invalid, "NotSent".to_owned(), chain(&error)),
        };
        let failing = error.raw_response().is_some_and(|response| response.status().is_server_error());
        let residue = match (&error, class) {
            // The request was never sent.
            (SdkError::ConstructionFailure(_), _) | (_, Class::Expired) => Residue::Nothing,
            (SdkError::ServiceError(_), Class::Outage) => Residue::MayExist,
            (SdkError::ServiceError(_), Class::Unknown) if failing => Residue::MayExist,
            (SdkError::ServiceError(_), _) => Residue::Nothing,
            // Sent and not answered, or not so that one could read it: it may have taken effect.
            _ => Residue::MayExist,
        };
        CloudError { call: call.to_owned(), class, code, message, request_id, residue }
    }
}

/// The request's id where only the document holds it: the SDK reads headers.
fn written_id(response: &HttpResponse) -> Option<&str> {
    let body = text_of(response);
    let (_, rest) = body.split_once("<RequestID>").or_else(|| body.split_once("<RequestId>"))?;
    rest.split_once('<').map(|(id, _)| id)
}

/// A refusal in nobody's protocol: by something on the way, or by an endpoint that does not offer the call.
fn without_code(call: &str, response: &HttpResponse) -> (Class, String, String) {
    let status = response.status().as_u16();
    let endpoint = response.extension::<Endpoint>().map_or("the endpoint", |endpoint| endpoint.0.as_str());
    let class = match status {
        // HEAD has no body to say a code in.
        404 if call.starts_with("s3:Head") => Class::NotFound,
        403 if call.starts_with("s3:Head") => Class::Denied,
        301 | 400 if call.starts_with("s3:Head") => Class::Invalid,
        404 | 405 | 500 | 501 => Class::Unsupported,
        429 => Class::Throttled,
        401 | 403 => Class::Denied,
        500.. | 407 | 408 => Class::Outage,
        _ => Class::Unknown,
    };
    let message = match class {
        Class::Unsupported => {
            format!("{endpoint} answered HTTP {status} without an AWS error code: it does not seem to offer {call}")
        }
        _ => format!("{endpoint} answered HTTP {status} without an AWS error code"),
    };
    (class, format!("HTTP {status}"), message)
}

fn unreadable(response: &HttpResponse, error: &dyn Error) -> String {
    let endpoint = response.extension::<Endpoint>().map_or("the endpoint", |endpoint| endpoint.0.as_str());
    format!("{endpoint} answered HTTP {} in no form of AWS's: {}", response.status().as_u16(), chain(error))
}

/// What the source of credentials said, where it was that which failed.
fn lack<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<CredentialsError>() {
            return Some(error);
        }
        cause = error.source();
    }
    None
}

/// The whole chain of causes in one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        // Some wrappers say what their cause says.
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = next.source();
    }
    text
}

/// True for an answer that says "too fast", in any of AWS's protocols.
pub(super) fn is_throttled(response: &HttpResponse) -> bool {
    if response.status().is_success() {
        return false;
    }
    match code_of(response) {
        Some(code) => class("", &code, text_of(response)) == Class::Throttled,
        None => response.status().as_u16() == 429,
    }
}

fn text_of(response: &HttpResponse) -> &str {
    response.body().bytes().and_then(|body| std::str::from_utf8(body).ok()).unwrap_or("")
}

/// The error code of a raw refusal: from a header, from a document, or from an element.
fn code_of(response: &HttpResponse) -> Option<String> {
    let header = |name| response.headers().get(name);
    // `Sender` and namespaces are not part of the code.
    let bare = |code: &str| {
        let code = code.split([':', ';']).next().unwrap_or(code);
        code.rsplit('#').next().unwrap_or(code).to_owned()
    };
    if let Some(code) = header("x-amzn-errortype").or_else(|| header("x-amzn-query-error")) {
        return Some(bare(code));
    }
    let body = text_of(response);
    if let Some((_, rest)) = body.split_once("<Code>") {
        return rest.split_once("</Code>").map(|(code, _)| code.to_owned());
    }
    let document: serde_json::Value = serde_json::from_str(body).ok()?;
    let code = ["__type", "code", "Code"].iter().find_map(|key| document.get(key)?.as_str())?;
    Some(bare(code))
}
