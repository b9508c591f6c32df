//! Idempotency tokens: a repeat answers as the first call did, other parameters under the same token are refused. Must never
//! forget one while its object may still be coming.

use super::{Context, Output, World};
use crate::{model::hash, sandbox::wire::Fault};
use serde_json::Value;
use std::collections::BTreeMap;

/// By service, region, operation and token: a digest of the parameters, and the output.
pub type Remembered = BTreeMap<String, (String, Value)>;

impl World {
    /// Runs `make` once for each token. `member` is the input's name for the token, `mismatch` the service's code for the
    /// same token with other parameters.
    pub fn once(
        &mut self,
        context: &Context,
        member: &str,
        mismatch: &str,
        make: impl FnOnce(&mut Self) -> Result<Value, Fault>,
    ) -> Result<Output, Fault> {
        let Some(token) = context.text(member) else { return make(self).map(Output::from) };
        let key = format!("{} {} {} {token}", context.service, context.region, context.operation);
        let digest = hash(&context.input.to_string(), 32);
        match self.tokens.get(&key) {
            Some((before, output)) if *before == digest => Ok(output.clone().into()),
            Some(_) => {
                Err(Fault::new(mismatch, format!("The client token {token} was used before with other parameters")))
            }
            None => {
                let output = make(self)?;
                self.tokens.insert(key, (digest, output.clone()));
                Ok(output.into())
            }
        }
    }
}
