//! Type-erased operations and results, so that the code that runs operations is compiled once and not for each
//! operation.

use std::any::Any;

use storage::StorageError;

use crate::{SqlConnection, sql::SqlError};

pub(crate) type Operation = Box<dyn FnOnce(&mut SqlConnection) -> Outcome + Send>;

pub(crate) type Outcome = Result<Output, SqlError>;

/// The result of an operation.
pub(crate) struct Output(Box<dyn Any + Send>);

impl Output {
    pub(crate) fn new<T: Send + 'static>(value: T) -> Self {
        Self(Box::new(value))
    }

    /// The result as the type that the operation returned.
    pub(crate) fn into_type<T: 'static>(self) -> Result<T, StorageError> {
        match self.0.downcast() {
            Ok(value) => Ok(*value),
            Err(_) => Err(StorageError::Refused("the result of an operation has another type".to_owned())),
        }
    }
}
