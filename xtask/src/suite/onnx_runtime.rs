//! Installs the library of ONNX Runtime. Tests of vision models run with it and with tract.

use std::path::PathBuf;

use crate::process::{ProcessError, Runner};
use crate::venv::{Venv, VenvError};

/// Tests read the library's path from this variable.
pub(super) const VARIABLE: &str = "PHOTOS_TEST_ONNX_RUNTIME";
const PACKAGE: &str = "onnxruntime==1.31.1\n";

/// Why the library could not be installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OnnxRuntimeError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error("the Python package onnxruntime does not contain libonnxruntime")]
    NoLibrary,
}

pub(super) fn library(runner: &Runner) -> Result<PathBuf, OnnxRuntimeError> {
    // Only the library is needed, not the dependencies of the Python package.
    let venv = Venv::ensure_without_dependencies(runner, "onnxruntime", PACKAGE)?;
    venv.package_file("onnxruntime/capi", "libonnxruntime.").ok_or(OnnxRuntimeError::NoLibrary)
}
