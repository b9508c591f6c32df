//! The program as pipelines and people meet it: the built binary in an empty folder, on a simulated account.

mod codes;
mod demonstrations;
mod desk;
mod documents;
mod formats;
mod goldens;
mod hostile;
mod lookups;
