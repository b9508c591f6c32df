mod configs;
mod live;
