//! The end of a stack: what is left is found, billed, deleted, and proven gone.

mod leftovers;
mod receipts;
