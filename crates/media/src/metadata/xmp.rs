//! Reads an XMP packet from a photo's file or sidecar.

mod encoding;
mod packet;

pub(super) use packet::EXPORT;

use domain::{
    Correction, EditedField, Keywords, KeywordsEdit, MarksEdit, PhotoEdit, Position, Rating, TimeEdit,
    Timestamp, UtcOffset, Zone, clean_text,
};

use super::position::{parse_angle, plausible};
use super::written_time::{ParsedTime, Precision, parse_offset, parse_time};
use crate::Orientation;
use crate::container::MAX_BLOCK_BYTES;
use packet::{Properties, Property};

/// Larger packets are read up to here. The largest, with hand-painted masks, have a few megabytes.
const MAX_PACKET_BYTES: usize = MAX_BLOCK_BYTES;

/// An XMP packet; empty if there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Xmp {
    properties: Properties,
}

impl Xmp {
    /// Reads the readable part of a packet. `None` if it is not XMP.
    pub(super) fn read(packet: &[u8]) -> Option<Self> {
        let packet = packet.get(..MAX_PACKET_BYTES).unwrap_or(packet);
        packet::properties(&encoding::decode(packet)).map(|properties| Self { properties })
    }

    /// The copy of EXIF `DateTimeOriginal`. In a sidecar with corrections, the original time of the file.
    pub(super) fn date_time_original(&self) -> Option<ParsedTime> {
        match self.properties.get(Property::FileDateTime) {
            Some(text) => plain_time(text),
            None => self.present_time(),
        }
    }

    fn present_time(&self) -> Option<ParsedTime> {
        self.time(Property::DateTimeOriginal, Property::SubSecTimeOriginal, Property::OffsetTimeOriginal)
    }

    /// The copy of EXIF `DateTimeDigitized`.
    pub(super) fn date_time_digitized(&self) -> Option<ParsedTime> {
        self.time(Property::DateTimeDigitized, Property::SubSecTimeDigitized, Property::OffsetTimeDigitized)
    }

    /// `photoshop:DateCreated`: creation of the depicted content.
    pub(super) fn date_created(&self) -> Option<ParsedTime> {
        let is_corrected = self.properties.get(Property::FileDateTime).is_some();
        self.properties.get(Property::DateCreated).filter(|_| !is_corrected).and_then(plain_time)
    }

    /// `xmp:CreateDate`: creation of the file. For a scan or collage this is not the capture time.
    pub(super) fn create_date(&self) -> Option<ParsedTime> {
        self.properties.get(Property::CreateDate).and_then(plain_time)
    }

    /// The creation date in an Apple export, in UTC and to the minute.
    pub(super) fn exported_date(&self) -> Option<Timestamp> {
        self.properties.get(Property::ExportedDate).and_then(plain_time)?.moment()
    }

    /// The time of the GPS fix, in UTC unless it has an offset.
    pub(super) fn gps_time(&self) -> Option<Timestamp> {
        self.properties.get(Property::GpsTimeStamp).and_then(plain_time)?.moment()
    }

    /// The position. For a place that people corrected, the original position of the file.
    pub(super) fn position(&self) -> Option<Position> {
        if !self.is_corrected(EditedField::Place) {
            return self.present_position();
        }
        let degrees = |property| self.properties.get(property)?.trim().parse().ok();
        Position::new(degrees(Property::FileLatitude)?, degrees(Property::FileLongitude)?).ok()
    }

    fn present_position(&self) -> Option<Position> {
        let get = |property| self.properties.get(property);
        let latitude = parse_angle(get(Property::GpsLatitude)?, get(Property::GpsLatitudeRef), ['N', 'S'])?;
        let longitude =
            parse_angle(get(Property::GpsLongitude)?, get(Property::GpsLongitudeRef), ['E', 'W'])?;
        plausible(latitude, longitude, get(Property::GpsStatus).is_some_and(|status| status.trim() == "A"))
    }

    /// `dc:description`. For a description that people corrected, the original description of the file.
    pub(super) fn description(&self) -> Option<&str> {
        let is_corrected = self.is_corrected(EditedField::Description);
        self.properties.get(if is_corrected { Property::FileDescription } else { Property::Description })
    }

    fn is_corrected(&self, field: EditedField) -> bool {
        let fields = self.properties.get(Property::Corrected).unwrap_or_default();
        fields.split_whitespace().any(|name| name == field.name())
    }

    /// The corrections in an export of this library; `None` if there are none.
    pub(super) fn corrections(&self) -> Option<PhotoEdit> {
        let mut edit = PhotoEdit::default();
        if self.is_corrected(EditedField::Description) {
            let text = self.properties.get(Property::Description).unwrap_or_default();
            edit.description = Correction::description(text);
        }
        if self.is_corrected(EditedField::Place) {
            edit.position = self.present_position().map_or(Correction::Clear, Correction::Set);
        }
        if self.is_corrected(EditedField::Time) {
            edit.time = self.present_time().map(|time| {
                let zone = time.offset_minutes.and_then(UtcOffset::from_minutes).map(Zone::Offset);
                TimeEdit::Set { wall: time.wall, zone }
            });
        }
        edit.marks = self.corrected_marks();
        (!edit.is_empty()).then_some(edit)
    }

    fn corrected_marks(&self) -> MarksEdit {
        let mut edit = MarksEdit::default();
        if self.is_corrected(EditedField::Favorite) {
            edit.favorite = Correction::Set(self.is_true(Property::Favorite));
        }
        if self.is_corrected(EditedField::Rating) {
            edit.rating = self.stars(Property::Rating).flatten().map_or(Correction::Clear, Correction::Set);
        }
        if self.is_corrected(EditedField::Keywords) {
            let keywords = Keywords::of_file(self.properties.list(Property::Subject));
            edit.keywords = KeywordsEdit::Set(keywords);
        }
        if self.is_corrected(EditedField::Archived) {
            edit.archived = Correction::Set(self.is_true(Property::Archived));
        }
        edit
    }

    /// Whether it is a favourite. For a mark that people corrected, as for the next ones, that of the file.
    pub(super) fn is_favorite(&self) -> bool {
        let is_corrected = self.is_corrected(EditedField::Favorite);
        self.is_true(if is_corrected { Property::FileFavorite } else { Property::Favorite })
    }

    pub(super) fn is_archived(&self) -> bool {
        let is_corrected = self.is_corrected(EditedField::Archived);
        self.is_true(if is_corrected { Property::FileArchived } else { Property::Archived })
    }

    /// The rating; `Some(None)` if the packet says that there is none.
    #[expect(clippy::option_option, reason = "the inner one is the value")]
    pub(super) fn rating(&self) -> Option<Option<Rating>> {
        if self.is_corrected(EditedField::Rating) {
            return Some(self.stars(Property::FileRating).flatten());
        }
        self.stars(Property::Rating).or_else(|| percent_rating(self.number(Property::MicrosoftRating)?))
    }

    #[expect(clippy::option_option, reason = "the inner one is the value")]
    fn stars(&self, property: Property) -> Option<Option<Rating>> {
        star_rating(self.number(property)?)
    }

    fn number(&self, property: Property) -> Option<f64> {
        self.properties.get(property)?.trim().parse().ok()
    }

    fn is_true(&self, property: Property) -> bool {
        self.properties.get(property).is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
    }

    /// The keywords: those of `dc:subject`, then the last names of those in hierarchies. Tags that darktable makes for itself are
    /// left out; it writes their last names into `dc:subject`, too.
    pub(super) fn keywords(&self) -> Vec<&str> {
        let list = |property| self.properties.list(property);
        if self.is_corrected(EditedField::Keywords) {
            return list(Property::FileKeywords).collect();
        }
        let names = |is_internal: bool| -> Vec<&str> {
            let paths = list(Property::HierarchicalSubject);
            paths
                .filter(|path| is_internal == is_of_darktable(path))
                .flat_map(|path| path.split('|'))
                .collect()
        };
        let (internal, own) = (names(true), names(false));
        let mut keywords: Vec<&str> = list(Property::Subject)
            .filter(|keyword| !internal.contains(keyword) || own.contains(keyword))
            .collect();
        for (property, separator) in
            [(Property::HierarchicalSubject, '|'), (Property::TagsList, '/'), (Property::LastKeyword, '/')]
        {
            // Windows writes a keyword with a slash into both lists.
            let paths = list(property).filter(|path| !is_of_darktable(path));
            let new: Vec<&str> = paths.filter(|path| !keywords.contains(path)).collect();
            keywords.extend(new.into_iter().filter_map(|path| path.rsplit(separator).next()));
        }
        keywords
    }

    /// The copies of the EXIF descriptions, best first.
    pub(super) fn exif_descriptions(&self) -> impl Iterator<Item = &str> {
        [Property::ImageDescription, Property::UserComment]
            .into_iter()
            .filter_map(|property| self.properties.get(property))
    }

    /// `dc:title`.
    pub(super) fn title(&self) -> Option<&str> {
        self.properties.get(Property::Title)
    }

    /// `photoshop:Headline`.
    pub(super) fn headline(&self) -> Option<&str> {
        self.properties.get(Property::Headline)
    }

    /// `tiff:Orientation`.
    pub(super) fn orientation(&self) -> Option<Orientation> {
        Orientation::from_exif(self.properties.get(Property::Orientation)?.trim().parse().ok()?)
    }

    pub(super) fn make(&self) -> Option<String> {
        self.properties.get(Property::Make).and_then(clean_text)
    }

    pub(super) fn model(&self) -> Option<String> {
        self.properties.get(Property::Model).and_then(clean_text)
    }

    /// A time, completed with the separate properties for its fraction and offset.
    fn time(&self, time: Property, fraction: Property, offset: Property) -> Option<ParsedTime> {
        let own = |property| self.properties.get(property);
        let parsed = parse_time(own(time)?, own(fraction))?;
        let has_time = parsed.precision > Precision::Day;
        let separate = || parse_offset(own(offset)?).filter(|_| has_time);
        Some(ParsedTime { offset_minutes: parsed.offset_minutes.or_else(separate), ..parsed })
    }
}

/// Whether a tag is one that darktable makes for itself.
fn is_of_darktable(path: &str) -> bool {
    path == "darktable" || path.starts_with("darktable|")
}

/// A rating in stars. 0 is no rating, and so is -1, a rejected photo. `None` for other numbers.
#[expect(clippy::option_option, reason = "the inner one is the value")]
fn star_rating(stars: f64) -> Option<Option<Rating>> {
    if stars == -1.0 {
        return Some(None);
    }
    (0.0..=5.0).contains(&stars).then(|| whole_stars(stars.round()))
}

/// The rating of Windows, from 1 to 99. It writes 1, 25, 50, 75 and 99, and shows any other number as the nearest of these.
#[expect(clippy::option_option, reason = "the inner one is the value")]
fn percent_rating(percent: f64) -> Option<Option<Rating>> {
    (0.0..=100.0).contains(&percent).then(|| match percent {
        0.0 => None,
        percent => whole_stars((percent / 25.0).round() + 1.0),
    })
}

fn whole_stars(stars: f64) -> Option<Rating> {
    [1, 2, 3, 4, 5]
        .into_iter()
        .find(|whole: &u8| f64::from(*whole) == stars)
        .and_then(|whole| Rating::new(whole).ok())
}

/// A time without separate properties.
fn plain_time(text: &str) -> Option<ParsedTime> {
    parse_time(text, None)
}

#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;
