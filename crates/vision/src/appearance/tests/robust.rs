use proptest::prelude::*;

use crate::{BuiltInEncoder, Concept, Picture, VisualEncoder as _};

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
        let appearance = BuiltInEncoder;
        let vector = appearance.encode_picture(&picture).unwrap();
        prop_assert_eq!(vector.len(), appearance.dimensions());
        prop_assert!(vector.iter().all(|value| (0.0..=1.0).contains(value)), "{:?}", vector);
    }

    #[test]
    fn a_flip_changes_no_colour(picture in pictures()) {
        let appearance = BuiltInEncoder;
        let (one, other) = (appearance.encode_picture(&picture).unwrap(), appearance.encode_picture(&flipped(&picture)).unwrap());
        for concept in Concept::ALL.iter().take_while(|concept| **concept != Concept::Pastel) {
            let (one, other) = (one[concept.place()], other[concept.place()]);
            prop_assert!((one - other).abs() < 1e-3, "{:?} {} {}", concept, one, other);
        }
    }

    #[test]
    fn any_words_give_nothing_or_a_sound_query(words in "\\PC{0,200}") {
        let appearance = BuiltInEncoder;
        if let Some(query) = appearance.encode_query(&words).unwrap() {
            prop_assert_eq!(query.vector.len(), appearance.dimensions());
            prop_assert!(query.calibration.max_score > 0.0 && query.calibration.max_score <= 1.0);
            prop_assert!(query.calibration.steepness > 0.0);
            prop_assert!(query.vector.iter().any(|weight| *weight != 0.0));
        }
    }
}

#[test]
fn extreme_sizes_are_no_trouble() {
    for (width, height) in [(1, 1), (1, 2), (20_000, 1), (1, 20_000), (9000, 3), (1030, 700), (513, 512)] {
        let rgb = (0..width as usize * height as usize * 3).map(|place| (place * 31 % 256) as u8).collect();
        let vector = BuiltInEncoder.encode_picture(&Picture::new(width, height, rgb).unwrap()).unwrap();
        assert!(vector.iter().all(|value| (0.0..=1.0).contains(value)), "{width} x {height}");
    }
}

#[test]
fn long_searches_are_read_in_no_time() {
    let appearance = BuiltInEncoder;
    // The vocabulary is made by the first search.
    drop(appearance.encode_query("red").unwrap());
    for words in ["red ", "not ", "dark ", "赤い", "色", "の", "a\u{301}", "x", "black and ", "🙂 ", "ß"]
    {
        let long = words.repeat(2000);
        let start = std::time::Instant::now();
        drop(appearance.encode_query(&long).unwrap());
        assert!(start.elapsed().as_millis() < 500, "{words}");
    }
}
