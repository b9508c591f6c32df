//! What each request is, for the connector: an interceptor writes it on the request, as the connector sees only HTTP. Must
//! never change what is sent.

use super::purpose::Purpose;
use crate::sandbox::is_change;
use aws_smithy_runtime::client::retries::RetryPartition;
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept,
            context::{BeforeSerializationInterceptorContextMut, BeforeTransmitInterceptorContextMut},
            dyn_dispatch_hint,
        },
        orchestrator::Metadata,
        retries::RequestAttempts,
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::ConfigBag;

/// One attempt of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// As in IAM actions: `ec2`.
    pub service: &'static str,
    pub operation: String,
    /// From 1.
    pub attempt: u32,
    pub purpose: Purpose,
}

/// Labels the requests of one service's client, and keeps retries of its reads and of its changes apart: a partition that a
/// storm of describes has used up must not take the retries of a launch with it.
#[derive(Debug)]
pub struct Labels {
    service: &'static str,
    reads: RetryPartition,
    changes: RetryPartition,
}

impl Labels {
    pub fn new(service: &'static str) -> Self {
        // Custom partitions belong to this client alone: others of the process (another region, another test) have theirs.
        let partition = |half: &str| RetryPartition::custom(format!("{service} {half}")).build();
        Self { service, reads: partition("reads"), changes: partition("changes") }
    }
}

#[dyn_dispatch_hint]
impl Intercept for Labels {
    fn name(&self) -> &'static str {
        "Labels"
    }

    fn modify_before_serialization(
        &self,
        _context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let partition = match cfg.load::<Metadata>() {
            Some(call) if is_change(call.name()) => &self.changes,
            _ => &self.reads,
        };
        cfg.interceptor_state().store_put(partition.clone());
        Ok(())
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let operation = cfg.load::<Metadata>().map_or("", Metadata::name).to_owned();
        let attempt = cfg.load::<RequestAttempts>().map_or(1, RequestAttempts::attempts);
        let purpose =
            Purpose::current().unwrap_or(if is_change(&operation) { Purpose::Change } else { Purpose::State });
        context.request_mut().add_extension(Label { service: self.service, operation, attempt, purpose });
        Ok(())
    }
}
