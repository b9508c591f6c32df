mod configs;
mod demands;
mod live;
