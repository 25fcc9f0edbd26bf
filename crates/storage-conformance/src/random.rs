use domain::{Position, Timestamp};

use crate::Photo;

/// Numbers that look random and are the same for the same seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A new row of numbers.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is above 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A number from `low` to `high`, in millionths of the way.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let step = u32::try_from(self.below(1_000_001)).map_or(0.0, f64::from);
        low + (high - low) * step / 1_000_000.0
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let count = u64::try_from(items.len()).unwrap();
        &items[usize::try_from(self.below(count)).unwrap()]
    }
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

/// A library as people have them: bursts of a few equal times within years, most photos near one of a few
/// cities, some with a description, some with words in the picture. The same for the same seed.
pub fn random_photos(count: usize, first: Timestamp, seed: u64) -> Vec<Photo> {
    let mut random = Random::new(seed);
    let mut moment = first;
    (0..count)
        .map(|number| {
            if random.below(10) > 0 {
                moment = moment.plus_millis(1000 + i64::try_from(random.below(3_600_000)).unwrap());
            }
            random_photo(&mut random, number, moment)
        })
        .collect()
}

fn random_photo(random: &mut Random, number: usize, moment: Timestamp) -> Photo {
    let mut photo = Photo::at(moment).file_name(&format!("IMG_{number:05}.jpg"));
    if random.below(4) > 0 {
        let (city, latitude, longitude) = *random.pick(&CITIES);
        let latitude = latitude + random.between(-0.5, 0.5);
        let longitude = longitude + random.between(-3.0, 3.0);
        let wrapped = if longitude > 180.0 { longitude - 360.0 } else { longitude };
        photo.position = Some(Position::new(latitude, wrapped).unwrap());
        photo = photo.place(city);
    }
    if random.below(2) == 0 {
        let (one, other) = (random.pick(&THINGS), random.pick(&THINGS));
        photo = photo.description(&format!("A {one} and a {other}, number {number}"));
    }
    if random.below(4) == 0 {
        photo = photo.text(&format!("{} {}", random.pick(&THINGS), random.pick(&THINGS)));
    }
    photo
}
