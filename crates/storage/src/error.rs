#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The store cannot be reached, is locked, or has no room; the same call may succeed later.
    #[error("the metadata store is unavailable: {0}")]
    Unavailable(String),
    /// A stored value is invalid; the service never writes such a value.
    #[error("the metadata store holds an unreadable value: table {table}, column {column}, row {row}")]
    Unreadable { table: &'static str, column: &'static str, row: String },
    /// The store refused a valid operation: a defect of the service or of the schema.
    #[error("the metadata store refused an operation: {0}")]
    Refused(String),
}
