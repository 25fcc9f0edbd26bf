//! Writes XMP sidecars, which this crate and other programs read.

use domain::{EditedField, Keyword, Keywords, Marks, Position, Rating, Timestamp, UtcOffset};

use super::xmp::EXPORT;

/// What a sidecar says about a photo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WrittenSidecar<'a> {
    /// When it was taken.
    pub captured_at: Timestamp,
    /// The UTC offset of the local time where it was taken, if known.
    pub utc_offset: Option<UtcOffset>,
    /// Where it was taken.
    pub position: Option<Position>,
    pub description: Option<&'a str>,
    pub marks: &'a Marks,
    /// The original values of the file, if people corrected the photo.
    pub file: Option<FileValues<'a>>,
}

/// The original values of a corrected photo's file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileValues<'a> {
    pub corrected: &'a [EditedField],
    /// When the photo was taken. The current time may differ even if only the place was corrected, because it may
    /// follow from the place.
    pub captured_at: Timestamp,
    pub utc_offset: Option<UtcOffset>,
    /// Where it was taken.
    pub position: Option<Position>,
    pub description: Option<&'a str>,
    pub marks: &'a Marks,
}

impl WrittenSidecar<'_> {
    /// The sidecar, an XMP packet.
    ///
    /// ```
    /// use domain::{FileInfo, Sidecar, SidecarKind, Timestamp, UtcOffset};
    /// use media::WrittenSidecar;
    ///
    /// let taken = Timestamp::parse_iso("2024-05-06T07:08:09.123+02:00")?;
    /// let content = WrittenSidecar {
    ///     captured_at: taken,
    ///     utc_offset: UtcOffset::from_minutes(120),
    ///     position: None,
    ///     description: Some("Fish & chips"),
    ///     marks: &domain::Marks::default(),
    ///     file: None,
    /// }
    /// .xmp();
    /// let mut info = FileInfo::added_at(Timestamp::parse_iso("2025-01-01")?);
    /// info.sidecars = vec![Sidecar { kind: SidecarKind::Xmp, content }];
    /// let read = media::metadata(b"", &info);
    /// assert_eq!((read.capture.at, read.capture.offset_minutes), (taken, Some(120)));
    /// assert_eq!(read.details.description.as_deref(), Some("Fish & chips"));
    /// # Ok::<(), &'static str>(())
    /// ```
    pub fn xmp(&self) -> Vec<u8> {
        let time = local_time(self.captured_at, self.utc_offset);
        let mut packet = format!(
            "<?xpacket begin='\u{feff}' id='W5M0MpCehiHzreSzNTczkc9d'?>\n\
             <x:xmpmeta xmlns:x='adobe:ns:meta/'>\n\
             <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n\
             <rdf:Description rdf:about=''\n \
             xmlns:dc='http://purl.org/dc/elements/1.1/'\n \
             xmlns:exif='http://ns.adobe.com/exif/1.0/'\n \
             xmlns:export='{EXPORT}'\n \
             xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/'\n \
             xmlns:xmp='http://ns.adobe.com/xap/1.0/'>\n\
             <exif:DateTimeOriginal>{time}</exif:DateTimeOriginal>\n\
             <photoshop:DateCreated>{time}</photoshop:DateCreated>\n"
        );
        if let Some(position) = self.position {
            let latitude = angle(position.latitude(), ['N', 'S']);
            let longitude = angle(position.longitude(), ['E', 'W']);
            // The status tells a position of 0, 0 from a placeholder.
            packet.push_str(&format!(
                "<exif:GPSVersionID>2.3.0.0</exif:GPSVersionID>\n\
                 <exif:GPSStatus>A</exif:GPSStatus>\n\
                 <exif:GPSLatitude>{latitude}</exif:GPSLatitude>\n\
                 <exif:GPSLongitude>{longitude}</exif:GPSLongitude>\n"
            ));
        }
        if let Some(description) = self.description {
            packet.push_str("<dc:description><rdf:Alt><rdf:li xml:lang='x-default'>");
            push_escaped(&mut packet, description);
            packet.push_str("</rdf:li></rdf:Alt></dc:description>\n");
        }
        let Marks { favorite, rating, keywords, archived } = self.marks;
        // A rating of 0 takes precedence over a rating in the file.
        let stars = rating.map_or(0, Rating::stars);
        packet.push_str(&format!("<xmp:Rating>{stars}</xmp:Rating>\n"));
        push_keywords(&mut packet, "dc:subject", keywords);
        push_flag(&mut packet, "export:Favorite", *favorite);
        push_flag(&mut packet, "export:Archived", *archived);
        if let Some(file) = &self.file {
            file.push(&mut packet);
        }
        packet.push_str("</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end='w'?>\n");
        packet.into_bytes()
    }
}

impl FileValues<'_> {
    fn push(&self, packet: &mut String) {
        let names: Vec<&str> = self.corrected.iter().map(|field| field.name()).collect();
        let time = local_time(self.captured_at, self.utc_offset);
        packet.push_str(&format!(
            "<export:Corrected>{}</export:Corrected>\n<export:FileDateTime>{time}</export:FileDateTime>\n",
            names.join(" ")
        ));
        if let Some(position) = self.position {
            packet.push_str(&format!(
                "<export:FileLatitude>{}</export:FileLatitude>\n<export:FileLongitude>{}</export:FileLongitude>\n",
                position.latitude(),
                position.longitude()
            ));
        }
        if let Some(description) = self.description {
            packet.push_str("<export:FileDescription>");
            push_escaped(packet, description);
            packet.push_str("</export:FileDescription>\n");
        }
        let Marks { favorite, rating, keywords, archived } = self.marks;
        if let Some(rating) = rating {
            packet.push_str(&format!("<export:FileRating>{}</export:FileRating>\n", rating.stars()));
        }
        push_keywords(packet, "export:FileKeywords", keywords);
        push_flag(packet, "export:FileFavorite", *favorite);
        push_flag(packet, "export:FileArchived", *archived);
    }
}

fn push_keywords(packet: &mut String, name: &str, keywords: &Keywords) {
    if keywords.is_empty() {
        return;
    }
    packet.push_str(&format!("<{name}><rdf:Bag>"));
    for keyword in keywords.iter().map(Keyword::as_str) {
        packet.push_str("<rdf:li>");
        push_escaped(packet, keyword);
        packet.push_str("</rdf:li>");
    }
    packet.push_str(&format!("</rdf:Bag></{name}>\n"));
}

fn push_flag(packet: &mut String, name: &str, value: bool) {
    if value {
        packet.push_str(&format!("<{name}>True</{name}>\n"));
    }
}

/// The local time with its offset. If the offset is unknown, the time in UTC, because readers assume UTC.
fn local_time(at: Timestamp, offset: Option<UtcOffset>) -> String {
    let minutes = offset.map_or(0, UtcOffset::minutes);
    let wall = at.plus_millis(i64::from(minutes) * 60_000).to_string();
    let wall = wall.strip_suffix('Z').unwrap_or(&wall);
    offset.map_or_else(|| wall.to_owned(), |offset| format!("{wall}{offset}"))
}

/// Degrees and minutes, as the XMP specification writes them. Ten decimals are finer than any position.
fn angle(degrees: f64, [positive, negative]: [char; 2]) -> String {
    let hemisphere = if degrees < 0.0 { negative } else { positive };
    let degrees = degrees.abs();
    let (mut whole, mut minutes) = (degrees.trunc(), format!("{:.10}", degrees.fract() * 60.0));
    if minutes.starts_with("60") {
        (whole, minutes) = (whole + 1.0, "0.0".to_owned());
    }
    format!("{whole:.0},{minutes}{hemisphere}")
}

/// Appends a text without the characters that XML forbids.
fn push_escaped(packet: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => packet.push_str("&amp;"),
            '<' => packet.push_str("&lt;"),
            '>' => packet.push_str("&gt;"),
            '\n' | '\t' => packet.push(letter),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => packet.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Correction, EditedField, FileInfo, KeywordsEdit, MarksEdit, Metadata, PhotoEdit, Sidecar,
        SidecarKind, TimeEdit, Zone, clean_text,
    };
    use proptest::prelude::*;

    use super::*;

    fn read(sidecar: &WrittenSidecar<'_>) -> Metadata {
        let mut info = FileInfo::added_at(Timestamp::parse_iso("2100-01-01").unwrap());
        info.sidecars = vec![Sidecar { kind: SidecarKind::Xmp, content: sidecar.xmp() }];
        crate::metadata(b"", &info)
    }

    /// Offsets that some time zone had. Readers ignore others.
    const ZONES: [&str; 5] =
        ["Europe/Paris", "America/St_Johns", "Asia/Kathmandu", "Pacific/Chatham", "America/New_York"];

    proptest! {
        #[test]
        fn what_is_written_is_read(
            at_ms in -4_000_000_000_000..4_000_000_000_000_i64,
            zone in proptest::option::of(proptest::sample::select(&ZONES[..])),
            place in proptest::option::of((-90.0..90.0_f64, -180.0..180.0_f64)),
            text in ".{0,40}|[a-z<>&'\"\n ]{0,20}",
            marks in any_marks(),
        ) {
            let captured_at = Timestamp::from_millis(at_ms).unwrap();
            let offset = zone.and_then(|zone| places::zone_offset_minutes(zone, captured_at.wall(0)));
            let utc_offset = offset.and_then(UtcOffset::from_minutes);
            let position = place.and_then(|(latitude, longitude)| Position::new(latitude, longitude).ok());
            // Without a word it would count as boilerplate.
            let text = clean_text(&format!("A lake {}", text.replace(['\u{fffe}', '\u{ffff}'], "")));
            let sidecar = WrittenSidecar { captured_at, utc_offset, position, description: text.as_deref(), marks: &marks, file: None };
            let found = read(&sidecar);
            // Readers ignore 1970-01-01 00:00:00, the time of a clock that was never set.
            prop_assume!(at_ms != 0 && at_ms + i64::from(offset.unwrap_or(0)) * 60_000 != 0);
            prop_assert_eq!(found.capture.at, captured_at);
            prop_assert_eq!(found.capture.offset_minutes, offset);
            prop_assert_eq!(found.details.description, text);
            prop_assert_eq!(found.marks, marks);
            match (found.details.position, position) {
                (None, None) => {}
                (Some(found), Some(expected)) => {
                    prop_assert!((found.latitude() - expected.latitude()).abs() < 1e-11);
                    prop_assert!((found.longitude() - expected.longitude()).abs() < 1e-11);
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    fn any_marks() -> impl Strategy<Value = Marks> {
        let keywords = proptest::collection::vec(".{0,12}|[a-z<>&'/ ]{0,20}", 0..5);
        (any::<bool>(), 0..=5_u8, keywords, any::<bool>()).prop_map(
            |(favorite, stars, keywords, archived)| {
                let keywords: Vec<String> =
                    keywords.iter().map(|keyword| keyword.replace(['\u{fffe}', '\u{ffff}'], "")).collect();
                Marks {
                    favorite,
                    rating: Rating::new(stars).ok(),
                    keywords: Keywords::of_file(keywords.iter().map(String::as_str)),
                    archived,
                }
            },
        )
    }

    #[test]
    fn corrected_and_cleared_marks_are_read_with_those_of_the_file() {
        let keywords = |list: &[&str]| Keywords::parse(list.iter().copied()).unwrap();
        let some = Marks {
            favorite: true,
            rating: Rating::new(4).ok(),
            keywords: keywords(&["Sea", "A & B"]),
            archived: true,
        };
        let other = Marks { rating: Rating::new(2).ok(), keywords: keywords(&["Boat"]), ..Marks::default() };
        let none = Marks::default();
        let at = Timestamp::parse_iso("2024-05-06").unwrap();
        let sidecar = |shown, of_file, corrected| WrittenSidecar {
            captured_at: at,
            utc_offset: None,
            position: None,
            description: None,
            marks: shown,
            file: Some(FileValues {
                corrected,
                captured_at: at,
                utc_offset: None,
                position: None,
                description: None,
                marks: of_file,
            }),
        };
        for (shown, of_file) in [(&some, &none), (&none, &some), (&other, &some), (&some, &other)] {
            let all = sidecar(shown, of_file, &EditedField::ALL[3..]);
            assert_eq!(read(&all).marks, *of_file, "{shown:?}");
            let edit = crate::sidecar_corrections(&all.xmp()).unwrap();
            let MarksEdit { keywords, .. } = &edit.marks;
            assert_eq!(*keywords, KeywordsEdit::Set(shown.keywords.clone()));
            assert_eq!(edit.marks.applied(of_file, of_file), *shown, "{of_file:?}");
            assert_eq!(edit.fields(), EditedField::ALL[3..]);
        }
        // Only the rating was corrected, so the other marks are those of the file.
        let shown = Marks { rating: Rating::new(1).ok(), ..some.clone() };
        let only = sidecar(&shown, &some, &[EditedField::Rating]);
        assert_eq!(read(&only).marks, some);
        let edit = crate::sidecar_corrections(&only.xmp()).unwrap();
        assert_eq!(edit.marks.applied(&some, &some), shown);
        assert_eq!(edit.fields(), [EditedField::Rating]);
    }

    #[test]
    fn a_corrected_photo_has_the_values_of_its_file_and_the_corrections() {
        let time = |text: &str| Timestamp::parse_iso(text).unwrap();
        let position = Position::new(48.5, -2.25).ok();
        let sidecar = WrittenSidecar {
            captured_at: time("2024-05-06T07:08:09.123+02:00"),
            utc_offset: UtcOffset::from_minutes(120),
            position: None,
            description: Some("Image"),
            marks: &Marks::default(),
            file: Some(FileValues {
                corrected: &EditedField::ALL[..3],
                captured_at: time("2023-01-01T00:00:00Z"),
                utc_offset: None,
                position,
                description: Some("from <the> file"),
                marks: &Marks::default(),
            }),
        };
        let found = read(&sidecar);
        assert_eq!((found.capture.at, found.capture.offset_minutes), (time("2023-01-01"), None));
        assert_eq!(found.details.position, position);
        assert_eq!(found.details.description.as_deref(), Some("from <the> file"));
        let expected = PhotoEdit {
            description: Correction::Set("Image".to_owned()),
            time: Some(TimeEdit::Set {
                wall: jiff::civil::date(2024, 5, 6).at(7, 8, 9, 123_000_000),
                zone: UtcOffset::from_minutes(120).map(Zone::Offset),
            }),
            position: Correction::Clear,
            marks: MarksEdit::default(),
        };
        assert_eq!(crate::sidecar_corrections(&sidecar.xmp()), Some(expected));
        let only_place = FileValues { corrected: &[EditedField::Place], ..sidecar.file.unwrap() };
        let other = WrittenSidecar { file: Some(only_place), ..sidecar };
        assert_eq!(read(&other).details.description, None, "boilerplate of cameras");
        let edit = crate::sidecar_corrections(&other.xmp()).unwrap();
        assert_eq!((edit.description, edit.time, edit.position), (Correction::Keep, None, Correction::Clear));
        assert_eq!(crate::sidecar_corrections(&WrittenSidecar { file: None, ..sidecar }.xmp()), None);
    }

    #[test]
    fn angles_are_degrees_and_minutes() {
        assert_eq!(angle(48.5, ['N', 'S']), "48,30.0000000000N");
        assert_eq!(angle(-0.25, ['E', 'W']), "0,15.0000000000W");
        assert_eq!(angle(1.999_999_999_999_99, ['N', 'S']), "2,0.0N");
        assert_eq!(angle(0.0, ['N', 'S']), "0,0.0000000000N");
    }
}
