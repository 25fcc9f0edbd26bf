use domain::{Position, Timestamp};
use fastrand::Rng;

use crate::Photo;

/// A number from `low` to `high`.
pub(crate) fn between(random: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.f64()
}

const THINGS: [&str; 24] = [
    "harbour",
    "bicycle",
    "café",
    "cathedral",
    "dog",
    "glacier",
    "lantern",
    "lighthouse",
    "market",
    "meadow",
    "mountain",
    "museum",
    "orchard",
    "piano",
    "river",
    "sailing",
    "snowman",
    "station",
    "sunset",
    "tram",
    "umbrella",
    "vineyard",
    "waterfall",
    "Zürich",
];

const CITIES: [(&str, f64, f64); 8] = [
    ("Lisbon, Portugal", 38.72, -9.14),
    ("Berlin, Germany", 52.52, 13.4),
    ("Suva, Fiji", -18.14, 178.44),
    ("Tromsø, Norway", 69.65, 18.96),
    ("Quito, Ecuador", -0.18, -78.47),
    ("Auckland, New Zealand", -36.85, 174.76),
    ("Anadyr, Russia", 64.73, 177.5),
    ("Nairobi, Kenya", -1.29, 36.82),
];

/// The makes and the models of cameras.
const CAMERAS: [[Option<&str>; 2]; 5] = [
    [Some("Canon"), Some("Canon EOS R5")],
    [Some("Google"), Some("Pixel 8")],
    [Some("NIKON CORPORATION"), Some("NIKON D750")],
    [None, Some("Pinhole")],
    [None, None],
];

/// A realistic library, the same for the same seed: bursts of equal times within years, most photos near one of a few
/// cities, some with a description, some with OCR text.
pub fn random_photos(count: usize, first: Timestamp, seed: u64) -> Vec<Photo> {
    let mut random = Rng::with_seed(seed);
    let mut moment = first;
    (0..count)
        .map(|number| {
            if random.u32(0..10) > 0 {
                moment = moment.plus_millis(1000 + random.i64(0..3_600_000));
            }
            random_photo(&mut random, number, moment)
        })
        .collect()
}

fn random_photo(random: &mut Rng, number: usize, moment: Timestamp) -> Photo {
    let mut photo = Photo::at(moment).file_name(&format!("IMG_{number:05}.jpg"));
    photo.camera = CAMERAS[number % CAMERAS.len()];
    if random.u32(0..4) > 0 {
        let (city, latitude, longitude) = random.choice(CITIES).unwrap();
        let latitude = latitude + between(random, -0.5, 0.5);
        let longitude = longitude + between(random, -3.0, 3.0);
        let wrapped = if longitude > 180.0 { longitude - 360.0 } else { longitude };
        photo.position = Some(Position::new(latitude, wrapped).unwrap());
        photo = photo.place(city);
    }
    if random.bool() {
        let (one, other) = (random.choice(THINGS).unwrap(), random.choice(THINGS).unwrap());
        photo = photo.description(&format!("A {one} and a {other}, number {number}"));
    }
    if random.u32(0..4) == 0 {
        let (one, other) = (random.choice(THINGS).unwrap(), random.choice(THINGS).unwrap());
        photo = photo.text(&format!("{one} {other}"));
    }
    photo
}
