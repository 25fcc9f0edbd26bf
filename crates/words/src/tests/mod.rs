mod properties;
mod scores;
mod stems;
mod tokens;
