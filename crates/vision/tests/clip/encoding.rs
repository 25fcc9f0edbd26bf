//! Compares the models in `tests/models`, executed by both runtimes, with reference results of their original programs.

use std::{fs, path::Path};

use serde::Deserialize;
use vision::{
    Picture, VisualEncoder,
    clip::{ClipModel, Options, Runtime},
};

use crate::support::{PICTURES, TestModel, onnx_runtime, picture, queries};

#[derive(Deserialize)]
struct Expected {
    pictures_sha256: String,
    pictures: Vec<Vec<f32>>,
    queries: Vec<ExpectedQuery>,
}

#[derive(Deserialize)]
struct ExpectedQuery {
    vector: Vec<f32>,
}

fn both_runtimes() -> [Options; 2] {
    let library = Some(onnx_runtime());
    [
        Options { runtime: Runtime::Ort, library, threads: 1 },
        Options { runtime: Runtime::Tract, library: None, threads: 2 },
    ]
}

fn assert_close(what: &str, given: &[f32], expected: &[f32]) {
    let worst = given.iter().zip(expected).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
    assert!(given.len() == expected.len() && worst < 1e-3, "{what}: {worst}\n{given:?}\n{expected:?}");
}

fn check(name: &str) {
    let model = TestModel::new(name);
    let expected: Expected = serde_json::from_str(&model.expected()).unwrap();
    for options in both_runtimes() {
        let loaded = ClipModel::load(model.folder(), &options).unwrap();
        for (index, vector) in expected.pictures.iter().enumerate() {
            let given = loaded.encode_picture(&picture(index)).unwrap();
            assert_close(&format!("{name}, {:?}, picture {index}", options.runtime), &given, vector);
            assert_eq!(given.len(), loaded.dimensions());
        }
        let queries = queries();
        assert_eq!(queries.len(), expected.queries.len());
        for (words, expected) in queries.iter().zip(&expected.queries) {
            let query = loaded.encode_query(words).unwrap().unwrap();
            let what =
                format!("{name}, {:?}, {}", options.runtime, &words[..words.len().min(80)].escape_debug());
            assert_close(&what, &query.vector, &expected.vector);
        }
    }
}

#[test]
fn clip_matches_the_reference() {
    check("clip");
}

#[test]
fn siglip_2_matches_the_reference() {
    check("siglip2");
}

#[test]
fn multilingual_clip_matches_the_reference() {
    check("xlm");
}

#[test]
fn test_pictures_are_those_of_the_reference() {
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    for index in 0..PICTURES {
        digest.update(picture(index).rgb());
    }
    let digest = data_encoding::HEXLOWER.encode(digest.finish().as_ref());
    let expected: Expected = serde_json::from_str(&TestModel::new("clip").expected()).unwrap();
    assert_eq!(digest, expected.pictures_sha256);
}

#[test]
fn vectors_have_length_1_and_models_have_different_names() {
    let options = Options { runtime: Runtime::Tract, ..Options::default() };
    let (clip, siglip) = (TestModel::new("clip"), TestModel::new("siglip2"));
    let clip = ClipModel::load(clip.folder(), &options).unwrap();
    let siglip = ClipModel::load(siglip.folder(), &options).unwrap();
    for model in [&clip, &siglip] {
        let vector = model.encode_picture(&picture(3)).unwrap();
        assert!((vector.iter().map(|number| number * number).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    assert!(clip.name().starts_with("clip@") && clip.name().len() == "clip@".len() + 12, "{}", clip.name());
    assert_eq!((clip.dimensions(), siglip.dimensions()), (16, 32));
    assert_eq!(clip.longest_side_px(), 128);
    let (clip, siglip) =
        (clip.encode_query("boat").unwrap().unwrap(), siglip.encode_query("boat").unwrap().unwrap());
    assert!(clip.calibration.midpoint > siglip.calibration.midpoint);
}

#[test]
fn text_without_words_gives_no_query() {
    let options = Options { runtime: Runtime::Tract, ..Options::default() };
    let model = TestModel::new("siglip2");
    let model = ClipModel::load(model.folder(), &options).unwrap();
    for words in ["", "  \n", "!?!", "_"] {
        assert!(model.encode_query(words).unwrap().is_none(), "{words:?}");
    }
    let (once, again) = (model.encode_query("red boat!").unwrap(), model.encode_query("Red  Boat").unwrap());
    assert_eq!(once, again);
}

#[test]
fn name_of_a_model_depends_on_its_weights_and_settings() {
    let options = Options { runtime: Runtime::Tract, ..Options::default() };
    let model = TestModel::new("clip");
    let name = |folder: &Path| ClipModel::load(folder, &options).unwrap().name().to_owned();
    let before = name(model.folder());
    assert_eq!(before, name(model.folder()));
    model.edit("visual/preprocess_cfg.json", |text| text.replace("bicubic", "bilinear"));
    fs::remove_file(model.folder().join("manifest.json")).unwrap();
    assert_ne!(before, name(model.folder()));
}

#[test]
fn missing_library_is_an_error_only_if_required() {
    let model = TestModel::new("clip");
    let nothing = Some(model.folder().join("config.json"));
    // A process loads the library only once. Another test may have loaded it before with a valid path.
    let ort = Options { runtime: Runtime::Ort, library: nothing.clone(), threads: 1 };
    let auto = Options { runtime: Runtime::Auto, ..ort.clone() };
    let found = Runtime::detect(&auto);
    assert!(found.library.is_some() || found.problem.is_some_and(|error| error.contains("config.json")));
    let used = ClipModel::load(model.folder(), &auto).unwrap().self_test().unwrap();
    assert!(["tract", "ONNX Runtime"].contains(&used));
    if let Err(error) = ClipModel::load(model.folder(), &ort).unwrap().self_test() {
        assert!(error.to_string().contains("config.json"), "{error}");
    }
}

#[test]
fn errors_of_broken_models_name_the_file() {
    let check = |name: &str, part: &str, broken: &dyn Fn(&TestModel)| {
        for options in both_runtimes() {
            let model = TestModel::new(name);
            broken(&model);
            let loaded = ClipModel::load(model.folder(), &options);
            let error = match loaded.and_then(|loaded| loaded.self_test()) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{part}: no error"),
            };
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    for file in [
        "config.json",
        "visual/model.onnx",
        "visual/preprocess_cfg.json",
        "textual/model.onnx",
        "textual/tokenizer.json",
        "textual/tokenizer_config.json",
    ] {
        check("clip", file, &|model| fs::remove_file(model.folder().join(file)).unwrap());
        check("siglip2", file, &|model| {
            fs::write(model.folder().join(file), b"\x08\x09garbage\xff{").unwrap();
        });
        check("clip", file, &|model| fs::write(model.folder().join(file), b"").unwrap());
        // The file is changed after the model was loaded.
        check("clip", file, &|model| {
            ClipModel::load(model.folder(), &Options::default()).unwrap();
            fs::write(model.folder().join(file), b"shorter").unwrap();
        });
    }
    let swapped = |model: &TestModel, file: &str, other: &str| {
        fs::copy(model.folder().join(other), model.folder().join(file)).unwrap();
    };
    check("clip", "visual/model.onnx", &|model| swapped(model, "visual/model.onnx", "textual/model.onnx"));
    check("clip", "textual/model.onnx", &|model| swapped(model, "textual/model.onnx", "visual/model.onnx"));
    check("clip", "32 x 32", &|model| {
        model.edit("visual/preprocess_cfg.json", |text| text.replace("32", "48"));
    });
    check("clip", "16 numbers", &|model| model.edit("config.json", |text| text.replace("16", "512")));
    check("clip", "embed_dim", &|model| model.edit("config.json", |text| text.replace("16", "99999999999")));
    check("clip", "pad_token", &|model| {
        model.edit("textual/tokenizer_config.json", |text| text.replace("pad_token", "no_token"));
    });
    check("clip", "<nothing>", &|model| {
        model.edit("textual/tokenizer_config.json", |text| {
            text.replace(r#""pad_token": "<|endoftext|>""#, r#""pad_token": "<nothing>""#)
        });
    });
}

#[test]
fn truncated_or_changed_graphs_never_panic() {
    for options in both_runtimes() {
        for part in ["visual", "textual"] {
            let file = format!("{part}/model.onnx");
            let whole = fs::read(TestModel::new("siglip2").folder().join(&file)).unwrap();
            for step in 1..12 {
                let model = TestModel::new("siglip2");
                let mut bytes = whole.clone();
                if step % 2 == 0 {
                    bytes.truncate(whole.len() * step / 12);
                } else {
                    for at in (step * 7..bytes.len().min(4000)).step_by(97) {
                        bytes[at] ^= 0x5a;
                    }
                }
                fs::write(model.folder().join(&file), bytes).unwrap();
                // Both outcomes are valid: the change may be in an unused name.
                let _ = ClipModel::load(model.folder(), &options).and_then(|model| model.self_test());
            }
        }
    }
}

#[test]
fn pictures_of_any_size_are_encoded() {
    let options = Options { runtime: Runtime::Tract, ..Options::default() };
    let model = TestModel::new("clip");
    let model = ClipModel::load(model.folder(), &options).unwrap();
    for (width, height) in [(1, 1), (5000, 1), (1, 5000), (2, 2000)] {
        let picture = Picture::new(width, height, vec![100; (width * height * 3) as usize]).unwrap();
        assert_eq!(model.encode_picture(&picture).unwrap().len(), 16);
    }
}
