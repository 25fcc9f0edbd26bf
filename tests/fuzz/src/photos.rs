//! Photo files and their sidecars.

use domain::{FileInfo, Metadata, Rendition, Sidecar, SidecarKind, Timestamp};
use media::{Format, Limits, MediaError};

/// Small, so that a fuzzer spends its time on many inputs.
const LIMITS: Limits = Limits { max_pixels: 1_000_000 };

/// Does all that a worker does with a file.
pub(crate) fn photo(bytes: &[u8]) {
    read(bytes);
    // Decoding calls C code. A memory error there would end the test process, so only a fuzzer runs it.
    if cfg!(fuzzing) {
        let _ = media::render(bytes, &[Rendition::Thumb], &LIMITS);
    }
}

/// Reads what a movie says about itself.
pub(crate) fn movie(bytes: &[u8]) {
    let mut source = bytes;
    if let Ok(movie) = media::read_movie(&mut source) {
        assert!(movie.size.is_none_or(|size| size.area() > 0));
        assert_ne!(movie.duration_ms, Some(0));
    }
}

/// Reads a file without decoding its picture.
fn read(bytes: &[u8]) {
    match media::probe(bytes, &LIMITS) {
        Ok(probe) => {
            assert!(probe.stored_size.area() > 0 && probe.stored_size.area() <= LIMITS.max_pixels);
            assert_eq!(probe.stored_size.area(), probe.upright_size.area());
            assert!(probe.decode_memory_bytes(&Rendition::ALL) >= probe.stored_size.area());
        }
        Err(MediaError::TooManyPixels { pixels, limit }) => assert!(pixels > limit),
        Err(error) => assert!(error.to_string().len() < 2000),
    }
    read_metadata(bytes, Vec::new());
}

fn read_metadata(bytes: &[u8], sidecars: Vec<Sidecar>) {
    let info = FileInfo { sidecars, ..FileInfo::added_at(Timestamp::MAX) };
    let Metadata { capture, details, settings, marks } = media::metadata(bytes, &info);
    assert!(capture.at <= Timestamp::MAX);
    if let Some(minutes) = capture.offset_minutes {
        assert!((-14 * 60..=14 * 60).contains(&minutes), "{minutes}");
    }
    assert_eq!(details, details.clone().cleaned(), "texts are cleaned");
    assert_eq!(settings, settings.clone().and_then(domain::CameraSettings::cleaned), "settings are real");
    let texts: Vec<String> = marks.keywords.clone().into_texts();
    assert_eq!(domain::Keywords::parse(texts.iter().map(String::as_str)), Ok(marks.keywords));
}

/// The target of a format, and the signatures of its files. Add the target to [`TARGETS`](crate::TARGETS), too.
pub(crate) const fn signatures(format: Format) -> (&'static str, &'static [&'static [u8]]) {
    match format {
        Format::Jpeg => ("jpeg", &[b"\xFF\xD8\xFF"]),
        Format::Png => ("png", &[b"\x89PNG\r\n\x1A\n"]),
        Format::WebP => ("webp", &[b"RIFF\0\0\0\0WEBP"]),
        Format::Gif => ("gif", &[b"GIF89a"]),
        // Little-endian, big-endian and BigTIFF.
        Format::Tiff => ("tiff", &[b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"]),
        Format::Heif => ("heif", &[b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"]),
        Format::Avif => ("avif", &[b"\0\0\0\x18ftypavif\0\0\0\0mif1avif"]),
        // The RAW formats with signatures of their own.
        Format::Raw => (
            "raw",
            &[
                b"FUJIFILMCCD-RAW ",
                b"\0\0\0\x18ftypcrx \0\0\0\x01crx isom",
                b"IIU\0",
                b"IIRO",
                b"MMOR",
                b"II*\0\x10\0\0\0CR\x02\0",
            ],
        ),
    }
}

/// Reads the bytes as a file of one format. If they lack a signature of the format, reads them behind each of its signatures.
fn read_as(format: Format, bytes: &[u8]) {
    if Format::sniff(bytes) == Some(format) {
        return read(bytes);
    }
    for signature in signatures(format).1 {
        read(&[signature, bytes].concat());
    }
}

pub(crate) fn jpeg(bytes: &[u8]) {
    read_as(Format::Jpeg, bytes);
}

pub(crate) fn png(bytes: &[u8]) {
    read_as(Format::Png, bytes);
}

pub(crate) fn webp(bytes: &[u8]) {
    read_as(Format::WebP, bytes);
}

pub(crate) fn gif(bytes: &[u8]) {
    read_as(Format::Gif, bytes);
}

pub(crate) fn tiff(bytes: &[u8]) {
    read_as(Format::Tiff, bytes);
}

pub(crate) fn heif(bytes: &[u8]) {
    read_as(Format::Heif, bytes);
}

pub(crate) fn avif(bytes: &[u8]) {
    read_as(Format::Avif, bytes);
}

pub(crate) fn raw(bytes: &[u8]) {
    read_as(Format::Raw, bytes);
}

/// A packet as a sidecar, and inside a JPEG.
pub(crate) fn xmp(bytes: &[u8]) {
    sidecar(SidecarKind::Xmp, bytes);
    read(&jpeg_with(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0", bytes].concat()));
}

pub(crate) fn takeout(bytes: &[u8]) {
    sidecar(SidecarKind::Takeout, bytes);
}

fn sidecar(kind: SidecarKind, content: &[u8]) {
    read_metadata(b"", vec![Sidecar { kind, content: content.to_owned() }]);
}

/// IPTC datasets in a Photoshop image resource.
pub(crate) fn iptc(bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    read(&jpeg_with(0xED, &[&b"Photoshop 3.0\08BIM\x04\x04\0\0"[..], &length, bytes].concat()));
}

/// A JPEG without a picture, with one segment. A longer payload is cut to fit.
fn jpeg_with(marker: u8, payload: &[u8]) -> Vec<u8> {
    let payload = payload.get(..65_533).unwrap_or(payload);
    let length = u16::try_from(payload.len() + 2).unwrap_or(u16::MAX).to_be_bytes();
    [&[0xFF, 0xD8, 0xFF, marker][..], &length, payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_target() {
        for format in Format::ALL {
            let (target, signatures) = signatures(format);
            assert!(crate::TARGETS.iter().any(|(name, _)| *name == target), "there is no target {target}");
            for signature in signatures {
                assert_eq!(Format::sniff(signature), Some(format), "{signature:?}");
            }
        }
    }
}
