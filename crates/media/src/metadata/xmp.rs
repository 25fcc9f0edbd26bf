//! What an XMP packet says about a photo, in its file or in one beside it.

mod encoding;
mod packet;

use domain::{Position, Timestamp, clean_text};

use super::exif_time::{millis_of_fraction, parse_offset};
use super::position::{plausible, written_angle};
use super::written_time::{WrittenTime, parse_xmp_date};
use packet::{Properties, Property};

/// Larger packets are read up to here; the largest sidecars, with masks painted by hand, have a few megabytes.
const MAX_PACKET_BYTES: usize = 4 << 20;

/// An XMP packet; an empty one when there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Xmp {
    properties: Properties,
}

impl Xmp {
    /// Reads what can be read of a packet. `None` when it is no XMP.
    pub(super) fn read(packet: &[u8]) -> Option<Self> {
        let packet = packet.get(..MAX_PACKET_BYTES).unwrap_or(packet);
        packet::properties(&encoding::decode(packet)).map(|properties| Self { properties })
    }

    /// The mirror of the EXIF tag.
    pub(super) fn date_time_original(&self) -> Option<WrittenTime> {
        self.time(Property::DateTimeOriginal, Property::SubSecTimeOriginal, Property::OffsetTimeOriginal)
    }

    /// The mirror of the EXIF tag.
    pub(super) fn date_time_digitized(&self) -> Option<WrittenTime> {
        self.time(Property::DateTimeDigitized, Property::SubSecTimeDigitized, Property::OffsetTimeDigitized)
    }

    /// `photoshop:DateCreated`: when what the picture shows was there to be seen.
    pub(super) fn date_created(&self) -> Option<WrittenTime> {
        self.properties.get(Property::DateCreated).and_then(parse_xmp_date)
    }

    /// `xmp:CreateDate`: when this picture was made; of a scan or a collage, not when it was taken.
    pub(super) fn create_date(&self) -> Option<WrittenTime> {
        self.properties.get(Property::CreateDate).and_then(parse_xmp_date)
    }

    /// The time of the GPS fix, which is in UTC unless it says otherwise.
    pub(super) fn gps_time(&self) -> Option<Timestamp> {
        self.properties.get(Property::GpsTimeStamp).and_then(parse_xmp_date)?.moment()
    }

    /// Where the photo was taken.
    pub(super) fn position(&self) -> Option<Position> {
        let get = |property| self.properties.get(property);
        let latitude = written_angle(get(Property::GpsLatitude)?, get(Property::GpsLatitudeRef), ['N', 'S'])?;
        let longitude =
            written_angle(get(Property::GpsLongitude)?, get(Property::GpsLongitudeRef), ['E', 'W'])?;
        plausible(latitude, longitude, get(Property::GpsStatus).is_some_and(|status| status.trim() == "A"))
    }

    /// `dc:description`.
    pub(super) fn description(&self) -> Option<&str> {
        self.properties.get(Property::Description)
    }

    /// The mirrors of the EXIF descriptions, best first.
    pub(super) fn exif_descriptions(&self) -> impl Iterator<Item = &str> {
        [Property::ImageDescription, Property::UserComment]
            .into_iter()
            .filter_map(|property| self.properties.get(property))
    }

    /// `dc:title`.
    pub(super) fn title(&self) -> Option<&str> {
        self.properties.get(Property::Title)
    }

    /// Who made the camera.
    pub(super) fn make(&self) -> Option<String> {
        self.properties.get(Property::Make).and_then(clean_text)
    }

    /// The camera's model.
    pub(super) fn model(&self) -> Option<String> {
        self.properties.get(Property::Model).and_then(clean_text)
    }

    /// A time with the fraction and the offset that belong to it, when it does not have them in itself.
    fn time(&self, time: Property, fraction: Property, offset: Property) -> Option<WrittenTime> {
        let text = self.properties.get(time)?;
        let written = parse_xmp_date(text)?;
        let own = |property| self.properties.get(property);
        let digits = own(fraction).filter(|_| written.has_time && !text.contains('.'));
        let nanos = digits.map(|digits| millis_of_fraction(digits) * 1_000_000);
        let wall = nanos.and_then(|nanos| written.wall.with().subsec_nanosecond(nanos).build().ok());
        let offset_minutes = written.offset_minutes.or_else(|| parse_offset(own(offset)?));
        Some(WrittenTime { wall: wall.unwrap_or(written.wall), offset_minutes, ..written })
    }
}

#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;
