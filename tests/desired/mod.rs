//! What the layers wish, and what their kinds say of it.

mod access;
mod addons;
mod cluster;
mod costs;
mod identity;
mod laws;
mod network;
mod network_kinds;
mod network_plans;
mod node_kinds;
mod node_plans;
mod nodes;
mod settled;
mod storage;
