//! Archives for tests.

use std::{fs, io::Write as _, path::Path};

use flate2::{Compression, write::DeflateEncoder, write::GzEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter, path::EntryPath};

/// Paths and contents.
pub(crate) type Files<'a> = [(&'a str, &'a [u8])];

/// Writes a ZIP archive as a stream, so that lengths follow the data, as Google does.
pub(crate) fn write_zip(path: &Path, files: &Files<'_>) {
    let file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    let mut archive = ZipArchiveWriter::new(file);
    for (name, content) in files {
        let file = archive.new_file(EntryPath::verbatim(name.as_bytes()));
        if content.is_empty() {
            let (mut entry, config) = file.start().unwrap();
            let (_, descriptor) = config.wrap(&mut entry).finish().unwrap();
            entry.finish(descriptor).unwrap();
            continue;
        }
        let (mut entry, config) = file.compression_method(CompressionMethod::DEFLATE).start().unwrap();
        let encoder = DeflateEncoder::new(&mut entry, Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(content).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap().flush().unwrap();
}

/// The bytes of a tar archive.
pub(crate) fn tar(files: &Files<'_>) -> Vec<u8> {
    let mut archive = ::tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = ::tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mtime(1_600_000_000);
        archive.append_data(&mut header, name, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Writes an archive of the kind that its extension names, or a folder.
pub(crate) fn write(path: &Path, files: &Files<'_>) {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("zip") => write_zip(path, files),
        Some("tar") => fs::write(path, tar(files)).unwrap(),
        Some("tgz") => fs::write(path, gzip(&tar(files))).unwrap(),
        _ => {
            for (name, content) in files {
                let file = path.join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, content).unwrap();
            }
        }
    }
}
