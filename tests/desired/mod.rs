//! What the layers wish, and what their kinds say of it.

mod laws;
mod network;
mod network_kinds;
mod network_plans;
