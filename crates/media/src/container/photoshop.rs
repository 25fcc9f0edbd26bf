//! Finds metadata in Photoshop image resources ("Image Resources Section" of Adobe's Photoshop File Formats
//! Specification). JPEG, TIFF and PNG files of ImageMagick contain such resources.

use super::take;

/// The id of the resource with IPTC-IIM datasets.
pub(super) const IPTC: u16 = 1028;
/// The ids of the resources with EXIF blocks, which begin with a TIFF header.
pub(super) const EXIF: [u16; 2] = [1058, 1059];
/// The id of the resource with an XMP packet.
pub(super) const XMP: u16 = 1060;

/// Signatures of a resource. All but the first come from old programs.
const SIGNATURES: [&[u8]; 5] = [b"8BIM", b"MeSa", b"AgHg", b"PHUT", b"DCSR"];

/// The resource with that id.
pub(super) fn resource(mut resources: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let signature = take(&mut resources, 4)?;
        if !SIGNATURES.contains(&signature) {
            return None;
        }
        let id = take(&mut resources, 2)?;
        let [name_length] = take(&mut resources, 1)? else { return None };
        // Name and length byte are padded to an even size.
        take(&mut resources, usize::from(name_length | 1))?;
        let length = take(&mut resources, 4)?.try_into().ok().map(u32::from_be_bytes)?;
        let length = usize::try_from(length).ok()?;
        let data = take(&mut resources, length)?;
        if id == wanted.to_be_bytes() {
            return Some(data);
        }
        take(&mut resources, length % 2)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::photoshop_resource;
    use proptest::prelude::*;

    #[test]
    fn iptc_is_found_after_names_of_any_length() {
        for name in ["", "a", "ab", "abc"] {
            let resources = [
                photoshop_resource(0x03ED, name, &[1, 2, 3]),
                photoshop_resource(0x0404, name, b"\x1C\x02\x05\0\x01x"),
            ]
            .concat();
            assert_eq!(resource(&resources, IPTC), Some(&b"\x1C\x02\x05\0\x01x"[..]), "{name:?}");
        }
        assert_eq!(resource(&photoshop_resource(0x03ED, "", &[1]), IPTC), None);
        assert_eq!(resource(b"not a resource", IPTC), None);
    }

    #[test]
    fn truncated_resource_is_ignored() {
        let whole = photoshop_resource(0x0404, "", &[7; 20]);
        assert_eq!(resource(&whole[..whole.len() - 1], IPTC), None);
    }

    proptest! {
        #[test]
        fn arbitrary_resources_never_panic(rest in prop::collection::vec(any::<u8>(), 0..200)) {
            for id in [IPTC, EXIF[0], XMP] {
                let _ = resource(&[&b"8BIM"[..], &rest].concat(), id);
                let _ = resource(&rest, id);
            }
        }
    }
}
