//! AWS's error codes to classes: the only table. Must never guess: a code that is not in it stays `Unknown` with its name.

use crate::contract::{Class, CloudError, Residue};
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
        let request_id = error.request_id().map(str::to_owned);
        let code = error.code().unwrap_or("").to_owned();
        let message = error.message().map_or_else(|| chain(&error), str::to_owned);
        let class = class(call, &code, &message);
        // A call that was sent and not answered may have taken effect.
        let residue = match &error {
            SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => Residue::MayExist,
            SdkError::ConstructionFailure(_) | SdkError::ServiceError(_) | _ => Residue::Nothing,
        };
        CloudError { call: call.to_owned(), class, code, message, request_id, residue }
    }
}

/// The whole chain of causes in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

fn class(_call: &str, code: &str, _message: &str) -> Class {
    match code {
        "" => Class::Outage,
        _ => Class::Unknown,
    }
}
