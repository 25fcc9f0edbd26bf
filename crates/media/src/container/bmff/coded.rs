//! Reads the size from coded pictures. A decoder allocates memory for this size, whatever the container declares. HEVC:
//! ITU-T H.265, section 7.3.2.2 (sequence parameter set), in the `hvcC` property of ISO/IEC 14496-15, section 8.3.3.
//! AV1: its bitstream specification, section 5.5 (sequence header).

use domain::PixelSize;

use super::larger;
use crate::container::boxes::Reader;

/// Maximum number of bitstream units that are read.
const MAX_UNITS: usize = 1000;
/// Maximum number of bytes of a sequence parameter set up to its size.
const MAX_PARAMETER_BYTES: usize = 512;

/// The codec of a picture, from its item type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// H.265.
    Hevc,
    Av1,
    /// Any other codec or item type.
    Other,
}

impl Coding {
    pub(super) fn of(kind: [u8; 4]) -> Self {
        match &kind {
            b"hvc1" | b"hev1" => Self::Hevc,
            b"av01" => Self::Av1,
            _ => Self::Other,
        }
    }

    /// The type of the decoder configuration property.
    pub(super) fn configuration(self) -> Option<&'static [u8; 4]> {
        match self {
            Self::Hevc => Some(b"hvcC"),
            Self::Av1 => Some(b"av1C"),
            Self::Other => None,
        }
    }

    /// Whether channels have more than 8 bits.
    pub(super) fn is_deep(self, configuration: &[u8]) -> bool {
        match self {
            Self::Hevc => configuration.get(17).is_some_and(|depth| depth & 7 > 0),
            Self::Av1 => configuration.get(2).is_some_and(|depths| depths & 0x40 > 0),
            Self::Other => false,
        }
    }

    /// The largest size in the configuration and at the start of the data.
    pub(super) fn size(self, configuration: &[u8], data: &[u8]) -> Option<PixelSize> {
        match self {
            Self::Hevc => hevc_size(configuration, data),
            Self::Av1 => {
                let declared = configuration.get(4..).unwrap_or_default();
                av1_sizes(declared).chain(av1_sizes(data)).reduce(larger)
            }
            Self::Other => None,
        }
    }
}

/// The largest size in the parameter sets of the configuration and of the data. The standard forbids parameter sets in
/// the data, but a decoder would use them.
fn hevc_size(configuration: &[u8], data: &[u8]) -> Option<PixelSize> {
    let mut reader = Reader::new(configuration);
    let length_bytes = reader.take(22)?.last()? & 3;
    let mut units = Vec::new();
    let arrays = reader.u8()?;
    for _ in 0..arrays {
        let _kind = reader.u8();
        let count = reader.u16().unwrap_or_default();
        for _ in 0..count {
            let Some(unit) = hevc_unit(&mut reader, 1) else { break };
            units.push(unit);
        }
    }
    let mut reader = Reader::new(data);
    let in_data = std::iter::from_fn(|| hevc_unit(&mut reader, length_bytes)).take(MAX_UNITS);
    units.into_iter().chain(in_data).filter_map(parameter_set_size).reduce(larger)
}

/// The next unit. Its length has `length_bytes + 1` bytes.
fn hevc_unit<'a>(reader: &mut Reader<'a>, length_bytes: u8) -> Option<&'a [u8]> {
    let length = match length_bytes {
        0 => u32::from(reader.u8()?),
        1 => u32::from(reader.u16()?),
        3 => reader.u32()?,
        _ => return None,
    };
    reader.take(usize::try_from(length).ok()?)
}

/// The size in a sequence parameter set; other units have none.
pub(crate) fn parameter_set_size(unit: &[u8]) -> Option<PixelSize> {
    let [kind, _, payload @ ..] = unit else { return None };
    if kind >> 1 & 0x3F != 33 {
        return None;
    }
    let payload = unescaped(payload);
    let mut bits = Bits::new(&payload);
    bits.skip(4)?;
    let more_layers = bits.bits(3)?;
    bits.skip(1)?;
    // Skips the general profile and level. Flags for each layer follow.
    bits.skip(88 + 8)?;
    let layers: Vec<_> =
        (0..more_layers).map(|_| Some((bits.bits(1)?, bits.bits(1)?))).collect::<Option<_>>()?;
    if more_layers > 0 {
        bits.skip(2 * (8 - more_layers))?;
    }
    for (profile, level) in layers {
        bits.skip(88 * profile + 8 * level)?;
    }
    let _id = bits.exp_golomb()?;
    let chroma_format = bits.exp_golomb()?;
    if chroma_format == 3 {
        bits.skip(1)?;
    }
    Some(PixelSize { width: bits.exp_golomb()?, height: bits.exp_golomb()? })
}

/// Removes the emulation prevention bytes (section 7.3.1.1).
pub(crate) fn unescaped(payload: &[u8]) -> Vec<u8> {
    let mut zeros = 0;
    let mut plain = Vec::new();
    for byte in payload.iter().take(MAX_PARAMETER_BYTES) {
        if zeros >= 2 && *byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if *byte == 0 { zeros + 1 } else { 0 };
        plain.push(*byte);
    }
    plain
}

/// The sizes in the sequence headers of a bitstream.
fn av1_sizes(data: &[u8]) -> impl Iterator<Item = PixelSize> {
    let mut reader = Reader::new(data);
    let units = std::iter::from_fn(move || av1_unit(&mut reader)).take(MAX_UNITS);
    units.filter(|(kind, _)| *kind == 1).filter_map(|(_, payload)| sequence_header_size(payload))
}

/// The kind and payload of the next unit.
fn av1_unit<'a>(reader: &mut Reader<'a>) -> Option<(u8, &'a [u8])> {
    let header = reader.u8()?;
    let (extended, sized) = (header & 4 > 0, header & 2 > 0);
    if extended {
        reader.u8()?;
    }
    let length = if sized { leb128(reader)? } else { usize::MAX };
    let payload = reader.take(length.min(reader.rest.len()))?;
    Some((header >> 3 & 15, payload))
}

fn leb128(reader: &mut Reader<'_>) -> Option<usize> {
    let mut value = 0;
    for place in 0..8 {
        let byte = reader.u8()?;
        value |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}

fn sequence_header_size(payload: &[u8]) -> Option<PixelSize> {
    let mut bits = Bits::new(payload);
    // Skips the profile and the still picture flag.
    bits.skip(4)?;
    if bits.bits(1)? == 1 {
        // A reduced header has only the level.
        bits.skip(5)?;
    } else {
        skip_operating_points(&mut bits)?;
    }
    let (width_bits, height_bits) = (bits.bits(4)? + 1, bits.bits(4)? + 1);
    Some(PixelSize { width: bits.bits(width_bits)? + 1, height: bits.bits(height_bits)? + 1 })
}

fn skip_operating_points(bits: &mut Bits<'_>) -> Option<()> {
    let mut delay_bits = None;
    if bits.bits(1)? == 1 {
        // Skips time unit and scale. An optional equal picture interval follows.
        bits.skip(64)?;
        if bits.bits(1)? == 1 {
            bits.exp_golomb()?;
        }
        if bits.bits(1)? == 1 {
            delay_bits = Some(bits.bits(5)? + 1);
            bits.skip(32 + 5 + 5)?;
        }
    }
    let has_display_delay = bits.bits(1)? == 1;
    for _ in 0..=bits.bits(5)? {
        bits.skip(12)?;
        if bits.bits(5)? > 7 {
            bits.skip(1)?;
        }
        if let Some(delay_bits) = delay_bits
            && bits.bits(1)? == 1
        {
            bits.skip(2 * delay_bits + 1)?;
        }
        if has_display_delay && bits.bits(1)? == 1 {
            bits.skip(4)?;
        }
    }
    Some(())
}

/// Reads bits, the most significant of each byte first.
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A number of up to 32 bits.
    pub(crate) fn bits(&mut self, count: u32) -> Option<u32> {
        let mut value = 0_u32;
        for _ in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }

    pub(crate) fn skip(&mut self, count: u32) -> Option<()> {
        self.at += usize::try_from(count).ok()?;
        (self.at <= self.bytes.len() * 8).then_some(())
    }

    /// An exponential Golomb code (H.265, 9.2; the same as `uvlc` of AV1).
    pub(crate) fn exp_golomb(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while self.bits(1)? == 0 {
            zeros += 1;
            if zeros == 32 {
                return None;
            }
        }
        let base = (1_u32 << zeros) - 1;
        base.checked_add(self.bits(zeros)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bits from text; characters except 0 and 1 are ignored.
    fn bits(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|byte| matches!(byte, b'0' | b'1')).collect();
        digits
            .chunks(8)
            .map(|byte| byte.iter().enumerate().fold(0, |sum, (at, bit)| sum | (bit - b'0') << (7 - at)))
            .collect()
    }

    fn size(width: u32, height: u32) -> Option<PixelSize> {
        Some(PixelSize { width, height })
    }

    #[test]
    fn exponential_golomb_codes_are_decoded() {
        let check = |text: &str, expect| assert_eq!(Bits::new(&bits(text)).exp_golomb(), expect, "{text}");
        check("1", Some(0));
        check("010", Some(1));
        check("00111", Some(6));
        check(&format!("{}1{}", "0".repeat(31), "1".repeat(31)), Some(u32::MAX - 1));
        check(&"0".repeat(40), None);
        check("00000001", None);
    }

    #[test]
    fn hevc_parameter_set_has_the_size() {
        // Layers, profile and level, id, chroma format 1, 64 × 48.
        let plain = format!("0000 000 1 {} 1 010 {}1000001 00000110001", "0".repeat(96), "000000");
        // One more layer with a profile, chroma format 3.
        let layered = format!(
            "0000 001 1 {} 10 {} {} 1 00100 1 {}1000001 00000110001",
            "1".repeat(96),
            "0".repeat(14),
            "1".repeat(88),
            "000000"
        );
        for payload in [plain, layered] {
            let unit = [&[33 << 1, 1][..], &escaped(&bits(&payload))].concat();
            assert_eq!(parameter_set_size(&unit), size(64, 48));
            let length = u16::try_from(unit.len()).unwrap().to_be_bytes();
            let configuration = [&[0; 21][..], &[1, 1, 33, 0, 1], &length, &unit].concat();
            assert_eq!(Coding::Hevc.size(&configuration, &[]), size(64, 48));
            let empty = [&[0; 21][..], &[1, 0]].concat();
            let in_data = [&length[..], &unit].concat();
            assert_eq!(Coding::Hevc.size(&empty, &in_data), size(64, 48));
            assert_eq!(Coding::Hevc.size(&empty, &in_data[..12]), None);
        }
        assert_eq!(parameter_set_size(&[34 << 1, 1, 0, 0]), None);
    }

    /// Inserts the bytes that [`unescaped`] removes.
    fn escaped(plain: &[u8]) -> Vec<u8> {
        let mut escaped: Vec<u8> = Vec::new();
        for byte in plain {
            if escaped.ends_with(&[0, 0]) && *byte < 4 {
                escaped.push(3);
            }
            escaped.push(*byte);
        }
        escaped
    }

    #[test]
    fn av1_sequence_header_has_the_size() {
        // 64 × 48, each with 6 bits.
        let sides = "0101 0101 111111 101111";
        let reduced = format!("000 1 1 00000 {sides}");
        let plain = format!("000 0 0 0 0 00000 {} 01000 0 {sides}", "0".repeat(12));
        let timed = format!(
            "000 0 0 1 {} 1 010 1 00011 {} {} 1 00000 {} 00000 1 000000000 1 0000 {sides}",
            "0".repeat(64),
            "0".repeat(32),
            "0".repeat(10),
            "0".repeat(12)
        );
        for payload in [reduced, plain.replace("01000 0", "00111"), plain, timed] {
            let payload = bits(&payload);
            let unit = [&[0x0A, u8::try_from(payload.len()).unwrap()][..], &payload].concat();
            let behind_others = [&[0x12, 0, 0x7A, 2, 9, 9][..], &unit].concat();
            assert_eq!(Coding::Av1.size(&[], &behind_others), size(64, 48));
            assert_eq!(Coding::Av1.size(&[&[0; 4][..], &unit].concat(), &[]), size(64, 48));
            assert_eq!(Coding::Av1.size(&[], &unit[..4]), None);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            configuration in prop::collection::vec(any::<u8>(), 0..100),
            data in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            for coding in [Coding::Hevc, Coding::Av1, Coding::Other] {
                let _ = coding.size(&configuration, &data);
                let _ = coding.is_deep(&configuration);
            }
            let _ = parameter_set_size(&[&[33 << 1, 1][..], &data].concat());
            let _ = sequence_header_size(&data);
        }
    }
}
