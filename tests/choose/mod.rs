//! What is chosen, why, and above all what is not chosen anew.

mod again;
mod fresh;
mod live;
