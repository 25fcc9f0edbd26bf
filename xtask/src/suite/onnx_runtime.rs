//! The library of ONNX Runtime, which the tests of vision models compute with beside what is built in.

use std::path::PathBuf;

use super::venv::{Venv, VenvError};
use crate::process::{ProcessError, Runner};

/// Tests read this to find the library.
pub(super) const VARIABLE: &str = "PHOTOS_TEST_ONNX_RUNTIME";
const PACKAGE: &str = "onnxruntime==1.31.1\n";

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OnnxRuntimeError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Venv(#[from] VenvError),
    #[error("the Python package onnxruntime has no libonnxruntime in it")]
    NoLibrary,
}

/// The library's file.
pub(super) fn library(runner: &Runner) -> Result<PathBuf, OnnxRuntimeError> {
    // Only the library is wanted: what Python needs for it is left out.
    let venv = Venv::ensure_alone(runner, "onnxruntime", PACKAGE)?;
    venv.package_file("onnxruntime/capi", "libonnxruntime.").ok_or(OnnxRuntimeError::NoLibrary)
}
