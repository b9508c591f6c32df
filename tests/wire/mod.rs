//! Live halves over the simulated account, down to the HTTP request: made, looked at, changed, drifted, deleted.

mod desk;
mod identity;
mod load_balancing;
mod network;
mod network_refusals;
