//! How a model lies on its node class, as sizing sees it. Must never size by itself.

use super::{NodeClass, Parallelism, Serving};
use crate::catalog::Catalog;

/// Whole replicas that the class holds at its largest; `None` where the type is not known.
pub(super) fn replicas_held(catalog: &Catalog, serving: &Serving, class: &NodeClass) -> Option<u32> {
    let devices = class.instance_types.iter().filter_map(|name| Some(catalog.instance_type(name)?.devices())).min()?;
    Some(match serving.parallelism {
        Parallelism::Auto => class.nodes.max,
        Parallelism::Fixed { pipeline: 1, tensor } => class.nodes.max * devices.checked_div(tensor)?,
        Parallelism::Fixed { pipeline, .. } => class.nodes.max.checked_div(pipeline)?,
    })
}
