//! The simulated account, asked call by call as a client would. Every input and output is held to AWS's own model.

mod alike;
mod capacity;
mod desk;
mod ground;
mod identity;
mod launches;
mod load_balancing;
mod network;
mod nodegroup_rules;
mod nodegroups;
mod scaling;
mod templates;
