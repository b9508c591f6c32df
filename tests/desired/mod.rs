//! What the layers wish, and what their kinds say of it.

mod laws;
mod network;
