//! The files of a model's folder.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use super::ModelsError;

/// What every model has.
const NEEDED: [&str; 6] = [
    "config.json",
    "textual/model.onnx",
    "textual/tokenizer.json",
    "textual/tokenizer_config.json",
    "visual/model.onnx",
    "visual/preprocess_cfg.json",
];

/// Large models keep their weights in files beside the graph, one for each layer.
const MOST_FILES: usize = 8192;

/// Whether a file of a published model belongs to it here: nothing in deeper folders (halves of precision and other
/// machines), nothing hidden, nothing for chips that are not used.
pub fn is_model_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let plain = |name: &str| {
        let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-+=@ :,".contains(sign);
        !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(sign)
    };
    match *parts {
        ["config.json"] => true,
        ["visual" | "textual", name] => plain(name) && !name.ends_with(".armnn") && !name.ends_with(".rknn"),
        _ => false,
    }
}

/// Whether what every model has is among these paths, or what is not.
pub fn missing_file<'a>(paths: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let paths: BTreeSet<_> = paths.into_iter().collect();
    NEEDED.into_iter().find(|needed| !paths.contains(needed))
}

/// The paths of a model's files in its folder, sorted, with slashes. Links count as what they lead to.
pub(super) fn of_model(folder: &Path) -> Result<Vec<String>, ModelsError> {
    let mut paths = Vec::new();
    for part in ["", "textual", "visual"] {
        let inside = folder.join(part);
        let entries = match fs::read_dir(&inside) {
            Ok(entries) => entries,
            Err(why) if why.kind() == io::ErrorKind::NotFound && !part.is_empty() => continue,
            Err(why) => return Err(ModelsError::file(&inside, &why)),
        };
        for entry in entries {
            let entry = entry.map_err(|why| ModelsError::file(&inside, &why))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if part.is_empty() { name } else { format!("{part}/{name}") };
            if is_model_file(&path) && entry.path().is_file() {
                paths.push(path);
            }
            if paths.len() > MOST_FILES {
                return Err(ModelsError(format!(
                    "{}: it has more than {MOST_FILES} files",
                    folder.display()
                )));
            }
        }
    }
    paths.sort();
    match missing_file(paths.iter().map(String::as_str)) {
        None => Ok(paths),
        Some(missing) => Err(ModelsError(format!("{}: {missing} is missing", folder.display()))),
    }
}

/// Writes a small file whole: nobody ever sees a part of it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Makes what happened in a folder, or to a file, last.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_model() {
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
