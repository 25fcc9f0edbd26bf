use super::super::{
    VOCABULARY,
    concept::Concept::{self, *},
    query::parse,
};
use crate::{BuiltInEncoder, VisualEncoder as _};

fn concepts(words: &str) -> Vec<(Concept, bool)> {
    parse(&VOCABULARY, words).concepts
}

#[track_caller]
fn check(cases: &[(&str, &[Concept])]) {
    for (words, expect) in cases {
        let expect: Vec<_> = expect.iter().map(|concept| (*concept, true)).collect();
        assert_eq!(concepts(words), expect, "{words}");
    }
}

#[test]
fn english_is_understood() {
    check(&[
        ("red", &[Red]),
        ("a photo of something RED", &[Red]),
        ("reddish", &[Red]),
        ("crimson", &[Red]),
        ("dark red", &[DarkRed]),
        ("dark, red", &[Dark, Red]),
        ("light-blue", &[LightBlue]),
        ("sky blue", &[LightBlue]),
        ("bright red", &[Red]),
        ("navy blue", &[DarkBlue]),
        ("blue sky", &[BlueSky]),
        ("black and white", &[Monochrome]),
        ("black & white photos", &[Monochrome]),
        ("B&W", &[Monochrome]),
        ("b/w", &[Monochrome]),
        ("red, white and blue", &[Red, White, Blue]),
        ("at night", &[Night]),
        ("in the snow at sunset", &[Snow, Sunset]),
        ("dimly lit", &[Dark]),
        ("golden hour", &[Sunset]),
        ("portrait orientation", &[Upright]),
        ("white background", &[White]),
        ("with a blurred background", &[BlurredBackground]),
        ("red red red", &[Red]),
        ("light gray", &[LightGray]),
        ("pale pink", &[LightPink]),
        ("not sharp", &[Blurry]),
        ("square format", &[Square]),
    ]);
}

#[test]
fn other_languages_are_understood() {
    check(&[
        ("Rotes Auto", &[Red]),
        ("dunkelblau", &[DarkBlue]),
        ("dunkel blau", &[DarkBlue]),
        ("schwarz-weiß", &[Monochrome]),
        ("Schwarzweißfoto", &[Monochrome]),
        ("bei Nacht", &[Night]),
        ("verschneite", &[Snow]),
        ("im Hochformat", &[Upright]),
        ("hellgrünes", &[LightGreen]),
        ("rouge foncé", &[DarkRed]),
        ("bleu clair", &[LightBlue]),
        ("noir et blanc", &[Monochrome]),
        ("coucher de soleil", &[Sunset]),
        ("photos de nuit", &[Night]),
        ("azul oscuro", &[DarkBlue]),
        ("blanco y negro", &[Monochrome]),
        ("puesta de sol", &[Sunset]),
        ("rojas", &[Red]),
        ("verde chiaro", &[LightGreen]),
        ("bianco e nero", &[Monochrome]),
        ("tramonto", &[Sunset]),
        ("preto e branco", &[Monochrome]),
        ("pôr do sol", &[Sunset]),
        ("amarelo", &[Yellow]),
        ("zwart-wit", &[Monochrome]),
        ("zonsondergang", &[Sunset]),
        ("lichtblauwe", &[LightBlue]),
        ("czarno-białe", &[Monochrome]),
        ("zachód słońca", &[Sunset]),
        ("czerwony", &[Red]),
        ("ciemny niebieski", &[DarkBlue]),
        ("чёрно-белые фото", &[Monochrome]),
        ("красная", &[Red]),
        ("тёмно-синий", &[DarkBlue]),
        ("закат", &[Sunset]),
        ("ночью", &[Night]),
        ("白黒写真", &[Monochrome]),
        ("赤い写真", &[Red]),
        ("夕焼け", &[Sunset]),
        ("雪", &[Snow]),
        ("黑白", &[Monochrome]),
        ("红色的照片", &[Red]),
        ("夜景", &[Night]),
        ("深蓝色", &[DarkBlue]),
        ("日落", &[Sunset]),
    ]);
}

#[test]
fn negations_apply_to_the_next_concept() {
    for (words, expect) in [
        ("not dark", vec![(Dark, false)]),
        ("no red", vec![(Red, false)]),
        ("blue without any green", vec![(Blue, true), (Green, false)]),
        ("nicht dunkel", vec![(Dark, false)]),
        ("sans rouge", vec![(Red, false)]),
        ("no people red", vec![(Red, true)]),
        ("red not red", vec![(Red, false)]),
    ] {
        assert_eq!(concepts(words), expect, "{words}");
    }
}

#[test]
fn words_for_things_are_unknown() {
    let encoder = BuiltInEncoder;
    for words in [
        "boat",
        "receipt from the hardware store",
        "landscape",
        "portrait",
        "Eiffel tower",
        "dog on a beach",
        "Hund",
        "船",
        "金魚",
        "黄瓜",
        "赤ちゃん",
        "ブルーベリー",
        "",
        " , . ",
        "the of in",
        "no",
        "not",
        "light",
        "photo",
        "กล้วย",
        "بحر",
        "배",
        "2019",
        "🙂",
        "cup",
        "kind",
        "Lisa",
    ] {
        assert_eq!(encoder.encode_query(words).unwrap(), None, "{words}");
    }
}

#[test]
fn unknown_words_lower_the_maximum_score() {
    let max_score = |words: &str| BuiltInEncoder.encode_query(words).unwrap().unwrap().calibration.max_score;
    for (words, expect) in [
        ("red", 1.0),
        ("a red one", 0.5),
        ("red boat", 0.5),
        ("a photo of a red boat", 0.5),
        ("red boat on the lake", 1.0 / 3.0),
        ("red at night", 1.0),
        ("赤い船", 0.5),
        ("rose", 0.6),
    ] {
        assert!((max_score(words) - expect).abs() < 1e-5, "{words}: {}", max_score(words));
    }
}

#[test]
fn match_needs_all_concepts() {
    let score = |words: &str, activations: &[(Concept, f32)]| {
        let encoder = BuiltInEncoder;
        let query = encoder.encode_query(words).unwrap().unwrap();
        let mut vector = vec![0.0; encoder.dimensions()];
        for (concept, value) in activations {
            vector[concept.index()] = *value;
        }
        let similarity = query.vector.iter().zip(&vector).map(|(one, other)| one * other).sum();
        query.calibration.score(similarity).unwrap_or(0.0)
    };
    assert!(score("red", &[(Red, 1.0)]) > 0.95);
    assert!((score("red", &[(Red, 0.5)]) - 0.5).abs() < 0.01);
    assert!(score("red", &[(Red, 0.2)]) <= 0.0);
    assert!(score("red night", &[(Red, 1.0), (Night, 1.0)]) > 0.95);
    assert!(score("red night", &[(Red, 1.0)]) <= 0.0);
    assert!((0.5..0.9).contains(&score("red night", &[(Red, 1.0), (Night, 0.5)])));
    assert!(score("red white blue", &[(Red, 1.0), (White, 1.0)]) <= 0.0);
    assert!(score("red white blue", &[(Red, 1.0), (White, 1.0), (Blue, 0.8)]) > 0.7);
    assert!(score("not dark", &[]) > 0.95);
    assert!(score("not dark", &[(Dark, 0.9)]) <= 0.0);
    assert!(score("red not dark", &[(Red, 1.0)]) > 0.95);
    assert!(score("red not dark", &[(Red, 1.0), (Dark, 1.0)]) <= 0.0);
    assert!(score("red not dark", &[]) <= 0.0);
    assert!(score("red boat", &[(Red, 1.0)]) <= 0.5);
}
