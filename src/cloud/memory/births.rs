//! What AWS and its controllers make and leave by themselves around clusters and node groups. Must never make what a stack
//! wishes for.

use super::{
    account::Inner,
    world::{Moment, Object},
};
use crate::contract::CloudError;

pub(super) fn after_create(_inner: &mut Inner, _object: &Object, _now: Moment) -> Result<(), CloudError> {
    Ok(())
}
pub(super) fn after_update(_inner: &mut Inner, _object: &Object, _now: Moment) -> Result<(), CloudError> {
    Ok(())
}
pub(super) fn after_delete(_inner: &mut Inner, _object: &Object, _now: Moment) -> Result<(), CloudError> {
    Ok(())
}
