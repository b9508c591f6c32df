//! Facts about AWS and about models: instance types, interfaces, quotas, offerings, prices, times, versions, shapes.
//! Compiled in from `data/`, with live answers laid over them. Must never ask a cloud.
//!
//! [`Catalog`] answers everything. What no published source says is `None`, never zero and never "no".

mod all;
mod config;
pub mod efa;
pub mod eks;
mod facts;
pub mod fsx;
mod instance;
mod model;
mod params;
mod price;
mod quota;
mod timing;
mod vllm;

pub use all::{Catalog, Known, Source};
pub use config::{ConfigError, model_from_config};
pub use efa::{Interface, InterfaceKind, max_pods};
pub use eks::NewestForCharts;
pub use facts::{Facts, Looked, LookedBy};
pub use instance::{
    Accelerator, AcceleratorKind, AmiOs, Architecture, InstanceType, IntraNodeLink, NetworkCard, Placement, family,
};
pub use model::{Attention, ModelShape, Moe, Precision};
pub use price::{HOURS_PER_MONTH, Price, hours_of};
pub use quota::{Per, Quota, VcpuQuota};
pub use timing::Timing;
