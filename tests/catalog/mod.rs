mod configs;
mod demands;
mod engine;
mod live;
