//! What must hold for every kind, for the planner as a whole, and for the sources. Data-driven: a kind that lands tomorrow is held
//! to them without a line here.

mod calls;
mod kinds;
mod planner;
mod random;
mod structure;
mod toys;
mod world;
