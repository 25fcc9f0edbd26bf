//! Generated pictures with metadata.

use std::{fs, io::Cursor, path::Path};

use ::tests::black_box::AnyError;
use image::{DynamicImage, ImageFormat};

use super::paint::{Scene, paint};

pub(super) struct GeneratedPicture {
    pub(super) name: &'static str,
    scene: Scene,
    size: [u32; 2],
    description: &'static str,
    /// ISO 8601 with an offset.
    taken: &'static str,
    /// Degrees north and east.
    position: [f64; 2],
}

const LISBON: [f64; 2] = [38.7223, -9.1393];
const PARIS: [f64; 2] = [48.8606, 2.2976];
const REYKJAVIK: [f64; 2] = [64.1466, -21.9426];
const KYOTO: [f64; 2] = [35.0116, 135.7681];
const CAPE_TOWN: [f64; 2] = [-33.9249, 18.4241];
const SYDNEY: [f64; 2] = [-33.8568, 151.2153];
const ZERMATT: [f64; 2] = [46.0207, 7.7491];

const WIDE: [u32; 2] = [640, 480];
const HIGH: [u32; 2] = [480, 640];
const LONG: [u32; 2] = [1200, 400];

const fn picture(
    name: &'static str,
    scene: Scene,
    size: [u32; 2],
    description: &'static str,
    taken: &'static str,
    position: [f64; 2],
) -> GeneratedPicture {
    GeneratedPicture { name, scene, size, description, taken, position }
}

/// All generated pictures. Descriptions and contents are unrelated, so that search by text and by image are measured
/// separately.
pub(super) const ALL: &[GeneratedPicture] = &[
    picture(
        "made-sunset-orange",
        Scene::Hills { top: [90.0, 80.0, 130.0], bottom: [255.0, 150.0, 60.0], ground: [35.0, 28.0, 30.0] },
        WIDE,
        "Ferry across the Tagus on the last evening",
        "2019-06-12T20:55:00+01:00",
        LISBON,
    ),
    picture(
        "made-sunset-pink",
        Scene::Hills { top: [80.0, 90.0, 150.0], bottom: [250.0, 170.0, 150.0], ground: [40.0, 35.0, 50.0] },
        WIDE,
        "Table Mountain from the harbour",
        "2018-01-20T19:40:00+02:00",
        CAPE_TOWN,
    ),
    picture(
        "made-sunset-long",
        Scene::Hills { top: [120.0, 110.0, 140.0], bottom: [255.0, 190.0, 90.0], ground: [30.0, 25.0, 25.0] },
        LONG,
        "Opera house before the concert",
        "2020-11-05T19:10:00+11:00",
        SYDNEY,
    ),
    picture(
        "made-night-lamps",
        Scene::Lamps,
        WIDE,
        "Northern lights that never came",
        "2017-12-28T22:15:00+00:00",
        REYKJAVIK,
    ),
    picture(
        "made-night-lamps-high",
        Scene::Lamps,
        HIGH,
        "Walk home after the cinema",
        "2016-03-04T23:05:00+01:00",
        PARIS,
    ),
    picture(
        "made-snow-trees",
        Scene::Snow,
        WIDE,
        "Skiing lesson with Emma",
        "2021-02-14T10:30:00+01:00",
        ZERMATT,
    ),
    picture(
        "made-snow-trees-high",
        Scene::Snow,
        HIGH,
        "Cable car to the glacier",
        "2021-02-15T11:00:00+01:00",
        ZERMATT,
    ),
    picture(
        "made-paper-white",
        Scene::Paper { paper: [250.0, 249.0, 246.0] },
        HIGH,
        "Receipt from the hardware store, paint and brushes",
        "2022-04-02T15:20:00+02:00",
        PARIS,
    ),
    picture(
        "made-paper-cream",
        Scene::Paper { paper: [246.0, 240.0, 226.0] },
        HIGH,
        "Grandmother's recipe for apple pie",
        "2015-10-11T16:00:00+01:00",
        LISBON,
    ),
    picture(
        "made-stripes-blue",
        Scene::Stripes { one: [235.0, 235.0, 230.0], other: [40.0, 70.0, 160.0], angle: 0.0 },
        WIDE,
        "New deck chairs on the balcony",
        "2019-05-18T12:00:00+02:00",
        PARIS,
    ),
    picture(
        "made-stripes-red",
        Scene::Stripes { one: [240.0, 238.0, 235.0], other: [200.0, 30.0, 35.0], angle: 0.7 },
        WIDE,
        "Awning of the bakery",
        "2019-06-21T08:40:00+02:00",
        PARIS,
    ),
    picture(
        "made-red-ball",
        Scene::Ball { wall: [165.0, 166.0, 163.0], ball: [215.0, 20.0, 25.0], radius: 0.18 },
        WIDE,
        "Toy boat of the neighbours",
        "2019-06-22T17:30:00+02:00",
        PARIS,
    ),
    picture(
        "made-orange-ball",
        Scene::Ball { wall: [225.0, 226.0, 228.0], ball: [250.0, 130.0, 20.0], radius: 0.14 },
        WIDE,
        "Lost and found at the station",
        "2018-09-01T09:00:00+09:00",
        KYOTO,
    ),
    picture(
        "made-purple-ball",
        Scene::Ball { wall: [30.0, 30.0, 34.0], ball: [140.0, 60.0, 190.0], radius: 0.2 },
        WIDE,
        "Costume for the school play",
        "2016-11-19T14:00:00+00:00",
        REYKJAVIK,
    ),
    picture(
        "made-pink-ball",
        Scene::Ball { wall: [120.0, 150.0, 110.0], ball: [250.0, 120.0, 180.0], radius: 0.2 },
        HIGH,
        "Birthday cake for Oskar",
        "2020-07-07T15:00:00+02:00",
        ZERMATT,
    ),
    picture(
        "made-turquoise-waves",
        Scene::Waves { one: [20.0, 150.0, 150.0], other: [90.0, 215.0, 205.0] },
        WIDE,
        "Swimming pool of the hotel",
        "2020-11-07T10:00:00+11:00",
        SYDNEY,
    ),
    picture(
        "made-brown-waves",
        Scene::Waves { one: [90.0, 55.0, 30.0], other: [140.0, 95.0, 60.0] },
        WIDE,
        "Wooden floor in the new flat",
        "2022-03-15T18:00:00+01:00",
        PARIS,
    ),
    picture(
        "made-pastel-waves",
        Scene::Waves { one: [250.0, 215.0, 220.0], other: [210.0, 225.0, 250.0] },
        WIDE,
        "Wallpaper samples for the nursery",
        "2022-03-20T11:00:00+01:00",
        PARIS,
    ),
    picture(
        "made-green-close-up",
        Scene::CloseUp { one: [60.0, 110.0, 60.0], other: [120.0, 150.0, 90.0] },
        WIDE,
        "Beetle on the window sill",
        "2017-08-03T13:00:00+00:00",
        REYKJAVIK,
    ),
    picture(
        "made-gray-close-up",
        Scene::CloseUp { one: [70.0, 75.0, 80.0], other: [150.0, 152.0, 155.0] },
        HIGH,
        "Mushroom that nobody could name",
        "2018-10-06T13:00:00+09:00",
        KYOTO,
    ),
    picture(
        "made-sepia-rocks",
        Scene::Rocks { tint: [240.0, 205.0, 160.0] },
        WIDE,
        "Great-grandparents in front of the mill",
        "2015-05-05T12:00:00+02:00",
        PARIS,
    ),
    picture(
        "made-gray-rocks",
        Scene::Rocks { tint: [240.0, 240.0, 240.0] },
        HIGH,
        "Portrait of a stranger on the tram",
        "2019-06-14T11:00:00+01:00",
        LISBON,
    ),
    picture(
        "made-leaves-green",
        Scene::Leaves { light: [120.0, 150.0, 60.0], shadow: [30.0, 52.0, 20.0] },
        WIDE,
        "Bamboo forest behind the temple",
        "2018-09-03T10:00:00+09:00",
        KYOTO,
    ),
    picture(
        "made-leaves-autumn",
        Scene::Leaves { light: [220.0, 130.0, 40.0], shadow: [90.0, 45.0, 20.0] },
        WIDE,
        "Temple garden in November",
        "2018-11-18T10:00:00+09:00",
        KYOTO,
    ),
    picture(
        "made-fog",
        Scene::Fog,
        WIDE,
        "Hiking trail to the summit, no view",
        "2021-08-19T07:30:00+02:00",
        ZERMATT,
    ),
    picture(
        "made-fog-long",
        Scene::Fog,
        LONG,
        "Whale watching without whales",
        "2017-08-05T09:00:00+00:00",
        REYKJAVIK,
    ),
    picture(
        "made-blocks",
        Scene::Blocks,
        WIDE,
        "Timetable of the summer school",
        "2020-07-01T09:00:00+02:00",
        ZERMATT,
    ),
    picture(
        "made-blue-sky",
        Scene::Hills {
            top: [60.0, 110.0, 200.0],
            bottom: [170.0, 205.0, 240.0],
            ground: [90.0, 140.0, 60.0],
        },
        WIDE,
        "Picnic under the tower",
        "2019-06-23T13:00:00+02:00",
        PARIS,
    ),
    picture(
        "made-gray-sky",
        Scene::Hills {
            top: [190.0, 192.0, 196.0],
            bottom: [215.0, 216.0, 218.0],
            ground: [80.0, 95.0, 60.0],
        },
        WIDE,
        "Football match, lost again",
        "2016-10-22T15:30:00+02:00",
        PARIS,
    ),
    picture(
        "made-blue-hour",
        Scene::Hills { top: [22.0, 32.0, 76.0], bottom: [90.0, 110.0, 160.0], ground: [16.0, 20.0, 38.0] },
        WIDE,
        "Harbour when the boats come in",
        "2019-06-13T21:40:00+01:00",
        LISBON,
    ),
];

impl GeneratedPicture {
    /// Writes the picture as a JPEG with an XMP packet.
    pub(super) fn write(&self, path: &Path) -> Result<(), AnyError> {
        let [width, height] = self.size;
        let mut jpeg = Vec::new();
        let image = DynamicImage::ImageRgb8(paint(self.scene, width, height));
        image.write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg)?;
        let packet = self.packet();
        let length = u16::try_from(packet.len() + 2)?.to_be_bytes();
        let (start, rest) = jpeg.split_at_checked(2).ok_or("no JPEG was written")?;
        fs::write(path, [start, &[0xFF, 0xE1], &length, packet.as_bytes(), rest].concat())?;
        Ok(())
    }

    /// An XMP packet (XMP specification, part 1) as a JPEG has it (part 3, 1.1.3).
    fn packet(&self) -> String {
        let [latitude, longitude] = self.position;
        let degrees = |value: f64, [positive, negative]: [char; 2]| {
            let letter = if value < 0.0 { negative } else { positive };
            format!("{},{:.4}{letter}", value.abs().trunc(), value.abs().fract() * 60.0)
        };
        format!(
            "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>\
             <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' \
             xmlns:exif='http://ns.adobe.com/exif/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/' \
             exif:DateTimeOriginal='{}' exif:GPSLatitude='{}' exif:GPSLongitude='{}'>\
             <dc:description><rdf:Alt><rdf:li xml:lang='x-default'>{}</rdf:li></rdf:Alt></dc:description>\
             </rdf:Description></rdf:RDF></x:xmpmeta>",
            self.taken,
            degrees(latitude, ['N', 'S']),
            degrees(longitude, ['E', 'W']),
            self.description.replace('\'', "&apos;"),
        )
    }
}
