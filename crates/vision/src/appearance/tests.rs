//! What the encoder sees in pictures made for it, and what it understands.

mod pictures;
mod queries;
mod robust;
mod seen;
