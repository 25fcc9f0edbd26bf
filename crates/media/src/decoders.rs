//! Decoders that are not built in. HEIC and AVIF need the system's libheif, which may be missing or lack a codec.

use heif::{Codec, Libheif, Version};

use crate::{Format, MediaError};

/// The first release of libheif that reads the codecs and layouts of current phones and programs.
pub(crate) const CURRENT: Version = Version { major: 1, minor: 19, patch: 0 };

/// Availability of the decoders that are not built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoders {
    /// The HEIC decoder, for example `libheif 1.15.1`, or the [`MediaError::NoDecoder`] for such files.
    pub heic: Result<String, MediaError>,
    /// The AVIF decoder, likewise.
    pub avif: Result<String, MediaError>,
    /// Why libheif cannot be loaded, as the system reports it, for example
    /// `libheif cannot be loaded: libheif.so.1: cannot open shared object file: No such file or directory`.
    pub load_error: Option<String>,
}

/// Reports which decoders are available. The first call loads them, so it must run before a sandbox closes the file
/// system.
pub fn decoders() -> Decoders {
    let heic = library(Codec::Hevc).map(|library| {
        let version = library.version();
        if is_outdated(library) {
            format!(
                "libheif {version} ({CURRENT} or later also reads HEIF pictures in H.264, H.266, JPEG and JPEG 2000)"
            )
        } else {
            format!("libheif {version}")
        }
    });
    Decoders {
        heic,
        avif: library(Codec::Av1).map(|library| format!("libheif {}", library.version())),
        load_error: Libheif::load().err().map(ToString::to_string),
    }
}

/// Whether later releases of libheif read more files.
pub(crate) fn is_outdated(library: &Libheif) -> bool {
    library.version() < CURRENT
}

/// Loads the decoders, before a sandbox closes the file system. A missing decoder is reported when a file needs it.
pub fn load_decoders() {
    let _found = Libheif::load();
}

/// Checks that the decoder of a format is available.
///
/// # Errors
/// [`MediaError::NoDecoder`], which names the packages to install.
pub fn check_decoder(format: Format) -> Result<(), MediaError> {
    codec(format).map_or(Ok(()), |codec| library(codec).map(|_| ()))
}

pub fn built_in_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| codec(*format).is_none())
}

/// The codec of libheif that a format needs; `None` if its decoder is built in.
const fn codec(format: Format) -> Option<Codec> {
    match format {
        Format::Heif => Some(Codec::Hevc),
        Format::Avif => Some(Codec::Av1),
        Format::Jpeg | Format::Png | Format::WebP | Format::Gif | Format::Tiff | Format::Raw => None,
    }
}

/// libheif, if it has a decoder for the codec.
pub(crate) fn library(codec: Codec) -> Result<&'static Libheif, MediaError> {
    let found = Libheif::load().ok().filter(|library| library.can_decode(codec));
    found.ok_or_else(|| missing(codec))
}

fn missing(codec: Codec) -> MediaError {
    match codec {
        Codec::Hevc => MediaError::NoDecoder {
            format: Format::Heif.name(),
            missing: "libheif with an HEVC decoder",
            install: "libheif1 (with libheif-plugin-libde265 if that is a separate package)",
        },
        Codec::Av1 => MediaError::NoDecoder {
            format: Format::Avif.name(),
            missing: "libheif with an AV1 decoder",
            install: "libheif1 (with libheif-plugin-dav1d if that is a separate package)",
        },
    }
}

/// libheif, whichever codecs it has.
pub(crate) fn any_library() -> Result<&'static Libheif, MediaError> {
    Libheif::load().map_err(|_| MediaError::NoDecoder {
        format: "these HEIF",
        missing: "libheif",
        install: "libheif1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_decoder_names_its_package() {
        assert_eq!(
            missing(Codec::Av1).to_string(),
            "AVIF pictures need libheif with an AV1 decoder; install libheif1 (with libheif-plugin-dav1d if that \
             is a separate package), restart the service, then import the file again"
        );
    }

    /// The test suite needs libheif: other tests decode pictures with it.
    #[test]
    fn decoders_are_available() {
        load_decoders();
        let found = decoders();
        assert_eq!(found.load_error, None);
        for decoder in [found.heic, found.avif] {
            assert!(decoder.unwrap().starts_with("libheif 1."));
        }
        for format in [Format::Jpeg, Format::Heif, Format::Avif, Format::Raw] {
            assert_eq!(check_decoder(format), Ok(()));
        }
    }
}
