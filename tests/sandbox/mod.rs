//! The simulated account, asked call by call as a client would. Every input and output is held to AWS's own model.

mod desk;
mod load_balancing;
mod network;
