//! What the layers wish, and what their kinds say of it.

mod costs;
mod laws;
mod network;
mod network_kinds;
mod network_plans;
mod node_kinds;
mod node_plans;
mod nodes;
mod storage;
