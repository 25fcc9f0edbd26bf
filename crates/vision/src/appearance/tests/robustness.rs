use proptest::prelude::*;

use super::super::concept::Concept;
use crate::{BuiltInEncoder, Picture, VisualEncoder as _};

fn pictures() -> impl Strategy<Value = Picture> {
    (1_u32..40, 1_u32..40).prop_flat_map(|(width, height)| {
        let bytes = (width * height * 3) as usize;
        let noise = proptest::collection::vec(any::<u8>(), bytes);
        // Few colours make flat areas.
        let flat = proptest::collection::vec(prop_oneof![Just(0_u8), Just(128), Just(255)], bytes);
        prop_oneof![noise, flat].prop_map(move |rgb| Picture::new(width, height, rgb).unwrap())
    })
}

fn flipped(picture: &Picture) -> Picture {
    let rgb = picture
        .rgb()
        .chunks_exact(picture.width() as usize * 3)
        .flat_map(|row| row.chunks_exact(3).rev().flatten().copied())
        .collect();
    Picture::new(picture.width(), picture.height(), rgb).unwrap()
}

proptest! {
    #[test]
    fn every_picture_has_activations_between_0_and_1(picture in pictures()) {
        let encoder = BuiltInEncoder;
        let vector = encoder.encode_picture(&picture).unwrap();
        prop_assert_eq!(vector.len(), encoder.dimensions());
        prop_assert!(vector.iter().all(|value| (0.0..=1.0).contains(value)), "{:?}", vector);
    }

    #[test]
    fn flipping_changes_no_colour(picture in pictures()) {
        let encoder = BuiltInEncoder;
        let one = encoder.encode_picture(&picture).unwrap();
        let other = encoder.encode_picture(&flipped(&picture)).unwrap();
        for concept in Concept::ALL.iter().take_while(|concept| **concept != Concept::Pastel) {
            let (one, other) = (one[concept.index()], other[concept.index()]);
            prop_assert!((one - other).abs() < 1e-3, "{:?} {} {}", concept, one, other);
        }
    }

    #[test]
    fn any_text_gives_none_or_a_valid_query(words in "\\PC{0,200}") {
        let encoder = BuiltInEncoder;
        if let Some(query) = encoder.encode_query(&words).unwrap() {
            prop_assert_eq!(query.vector.len(), encoder.dimensions());
            prop_assert!(query.calibration.max_score > 0.0 && query.calibration.max_score <= 1.0);
            prop_assert!(query.calibration.steepness > 0.0);
            prop_assert!(query.vector.iter().any(|weight| *weight != 0.0));
        }
    }
}

#[test]
fn pictures_of_extreme_sizes_are_encoded() {
    for (width, height) in [(1, 1), (1, 2), (20_000, 1), (1, 20_000), (9000, 3), (1030, 700), (513, 512)] {
        let rgb = (0..width as usize * height as usize * 3).map(|index| (index * 31 % 256) as u8).collect();
        let vector = BuiltInEncoder.encode_picture(&Picture::new(width, height, rgb).unwrap()).unwrap();
        assert!(vector.iter().all(|value| (0.0..=1.0).contains(value)), "{width} x {height}");
    }
}

#[test]
fn long_searches_are_parsed_quickly() {
    let encoder = BuiltInEncoder;
    // The first search builds the vocabulary.
    drop(encoder.encode_query("red").unwrap());
    for words in ["red ", "not ", "dark ", "赤い", "色", "の", "a\u{301}", "x", "black and ", "🙂 ", "ß"]
    {
        let long = words.repeat(2000);
        let start = std::time::Instant::now();
        drop(encoder.encode_query(&long).unwrap());
        assert!(start.elapsed().as_millis() < 500, "{words}");
    }
}
