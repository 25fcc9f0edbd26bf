//! The files in a model's folder.

mod manifest;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

pub(crate) use self::manifest::{MANIFEST, Manifest};

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ModelsError(pub String);

impl ModelsError {
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

/// The files that every model has.
const REQUIRED: [&str; 6] = [
    "config.json",
    "textual/model.onnx",
    "textual/tokenizer.json",
    "textual/tokenizer_config.json",
    "visual/model.onnx",
    "visual/preprocess_cfg.json",
];

/// Upper bound on files. Large models have one file of weights per layer.
const MAX_FILES: usize = 8192;

/// Whether a file of a published model is installed. Deeper folders (half precision, other hardware), hidden files and
/// files for other accelerators are not.
pub fn is_model_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let plain = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-+=@ :,".contains(c);
        !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(allowed)
    };
    match *parts {
        ["config.json"] => true,
        ["visual" | "textual", name] => plain(name) && !name.ends_with(".armnn") && !name.ends_with(".rknn"),
        _ => false,
    }
}

/// A required file that is not among these paths.
pub fn missing_file<'a>(paths: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let paths: BTreeSet<_> = paths.into_iter().collect();
    REQUIRED.into_iter().find(|required| !paths.contains(required))
}

/// The paths of a model's files in its folder, sorted, separated by slashes. Links are followed.
pub(crate) fn list(folder: &Path) -> Result<Vec<String>, ModelsError> {
    let mut paths = Vec::new();
    for part in ["", "textual", "visual"] {
        let inside = folder.join(part);
        let entries = match fs::read_dir(&inside) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !part.is_empty() => continue,
            Err(error) => return Err(ModelsError::file(&inside, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| ModelsError::file(&inside, &error))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if part.is_empty() { name } else { format!("{part}/{name}") };
            if is_model_file(&path) && entry.path().is_file() {
                paths.push(path);
            }
            if paths.len() > MAX_FILES {
                return Err(ModelsError(format!("{}: more than {MAX_FILES} files", folder.display())));
            }
        }
    }
    paths.sort();
    match missing_file(paths.iter().map(String::as_str)) {
        None => Ok(paths),
        Some(missing) => Err(ModelsError(format!("{}: {missing} is missing", folder.display()))),
    }
}

/// Writes a small file atomically and syncs it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Syncs a file or folder to disk.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_files_are_recognized() {
        for path in
            ["config.json", "visual/model.onnx", "textual/model.onnx_data", "textual/Constant_2_attr__value"]
        {
            assert!(is_model_file(path), "{path}");
        }
        for path in [
            "README.md",
            "visual/fp16/model.onnx",
            "visual/model.armnn",
            "visual/../config.json",
            "visual/..",
            "visual/",
            "/config.json",
            "other/model.onnx",
            "visual/.gitattributes",
            "visual/a\\b",
            "visual/rknpu/rk3588/model.rknn",
        ] {
            assert!(!is_model_file(path), "{path}");
        }
    }
}
