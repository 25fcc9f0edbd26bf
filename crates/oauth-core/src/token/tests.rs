mod exchange;
mod refresh;
mod requests;
