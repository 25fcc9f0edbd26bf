use domain::{CaptureSource, CaptureTime, Position, Timestamp};

/// A capture time and place name, derived from a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    pub capture: CaptureTime,
    pub place: Option<String>,
}

/// Adds the offset of the position's time zone to a capture time that has none, and names the nearest city. Without a
/// position the time does not change and is read as UTC. A modification time of a file does not change either, because
/// the file may be a copy that was made elsewhere.
///
/// Takes microseconds, but the first call unpacks the data and blocks for longer.
pub fn locate(capture: CaptureTime, position: Option<Position>) -> Located {
    let Some(position) = position else { return Located { capture, place: None } };
    Located { capture: zoned(capture, position), place: places::place(position) }
}

fn zoned(capture: CaptureTime, position: Position) -> CaptureTime {
    if capture.offset_minutes.is_some() {
        return capture;
    }
    let completed = || match capture.wall {
        Some(wall) => {
            let offset = places::offset_minutes(position, wall)?;
            let at = Timestamp::from_wall(wall, offset)?;
            Some(CaptureTime { at, offset_minutes: Some(offset), ..capture })
        }
        None if matches!(capture.source, CaptureSource::FileModified | CaptureSource::Added) => None,
        None => {
            let offset = places::offset_minutes_at(position, capture.at)?;
            Some(CaptureTime { offset_minutes: Some(offset), ..capture })
        }
    };
    completed().unwrap_or(capture)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn shown(offset_minutes: Option<i32>) -> CaptureTime {
        let wall = date(2019, 7, 4).at(18, 3, 22, 0);
        let at = Timestamp::from_wall(wall, offset_minutes.unwrap_or(0)).unwrap();
        CaptureTime { at, wall: Some(wall), offset_minutes, source: CaptureSource::ExifOriginal }
    }

    #[test]
    fn missing_offset_is_taken_from_the_place() {
        let paris = Position::new(48.8566, 2.3522).ok();
        let check = |capture, position, at: &str, offset| {
            let located = locate(capture, position);
            assert_eq!(
                (located.capture.at.to_string().as_str(), located.capture.offset_minutes),
                (at, offset)
            );
            assert_eq!(located.capture.wall, capture.wall);
        };
        check(shown(None), paris, "2019-07-04T16:03:22.000Z", Some(120));
        check(shown(None), None, "2019-07-04T18:03:22.000Z", None);
        check(shown(Some(-300)), paris, "2019-07-04T23:03:22.000Z", Some(-300));
        // A known moment does not change; only its offset is added.
        for source in CaptureSource::ALL {
            let moment = CaptureTime { wall: None, source, ..shown(None) };
            let is_of_the_file = matches!(source, CaptureSource::FileModified | CaptureSource::Added);
            check(moment, paris, "2019-07-04T18:03:22.000Z", (!is_of_the_file).then_some(120));
            check(moment, None, "2019-07-04T18:03:22.000Z", None);
        }
        assert_eq!(locate(shown(None), paris).place.as_deref(), Some("Paris, France"));
        assert_eq!(locate(shown(None), None).place, None);
    }
}
