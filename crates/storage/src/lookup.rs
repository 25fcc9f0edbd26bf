/// The result of looking up an image by id for a viewer.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// It belongs to the viewer and is visible.
    Found(T),
    /// It belongs to another account and is visible to its owner.
    Foreign,
    /// It is unknown, not ready, deleted, or outside the free window.
    Missing,
}
