//! The image channel of search.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use image::{Rgb, RgbImage};
use library::{IndexingScope, ModelSource, SearchStage, SharedEncoder};
use storage::{BackfillFilter, LeaseRequest, NewVector, StageOutcome, VersionPolicy};
use tests::{SeedImage, TestAccount, TestApp, TestResponse};
use vision::{Calibration, EncodeError, EncodedQuery, Picture, VisualEncoder};

const RED: [u8; 3] = [200, 20, 25];
const BLUE: [u8; 3] = [25, 40, 200];
const GREEN: [u8; 3] = [30, 160, 40];

/// A picture of one colour. Its bytes depend on its name.
fn painted(folder: &std::path::Path, name: &str, colour: [u8; 3]) -> PathBuf {
    let path = folder.join(name);
    let mut picture = RgbImage::from_pixel(640, 480, Rgb(colour));
    let mark = name.bytes().fold(7_u32, |mark, byte| mark.wrapping_mul(31).wrapping_add(u32::from(byte)));
    picture.put_pixel(mark % 640, mark / 640 % 480, Rgb([0, 0, 0]));
    picture.save(&path).unwrap();
    path
}

async fn import(app: &TestApp, account: &TestAccount, pictures: &[(&str, [u8; 3])]) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        pictures.iter().map(|(name, colour)| painted(folder.path(), name, *colour)).collect();
    let report = app.import(account, &paths).await;
    assert_eq!(usize::try_from(report.imported).unwrap(), pictures.len());
}

async fn search(app: &TestApp, account: &TestAccount, query: &str) -> TestResponse {
    app.get(&format!("/search?{query}"), &account.key).await
}

fn names(answer: &TestResponse) -> Vec<String> {
    let mut names: Vec<String> =
        answer.column("fileName").into_iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_are_found_by_appearance() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    import(&app, &ann, &[("1.png", RED), ("2.png", BLUE), ("3.png", RED), ("4.png", GREEN)]).await;
    import(&app, &ben, &[("5.png", RED)]).await;
    for query in [
        "query=red&channels=image",
        "query=RED&channels=text,image",
        "query=red",
        "query=rouge&channels=image",
    ] {
        let found = search(&app, &ann, query).await.expect(200);
        assert_eq!(names(&found), ["1.png", "3.png"], "{query}");
        let scores: Vec<f64> =
            found.column("score").into_iter().map(|score| score.as_f64().unwrap()).collect();
        assert!(scores.iter().all(|score| 0.3 < *score && *score <= 1.0), "{scores:?}");
        assert!(found.column("matchedText").into_iter().all(serde_json::Value::is_null));
    }
    assert!(search(&app, &ann, "query=red&channels=text").await.ids().is_empty());
    for noun in ["boat", "xyzzy", "%F0%9F%9A%A2"] {
        let found = search(&app, &ann, &format!("query={noun}&channels=image")).await.expect(200);
        assert!(found.ids().is_empty(), "{noun}: unknown words find nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_are_merged_into_one_ranking() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    import(&app, &ann, &[("plain.png", RED), ("meadow.png", GREEN)]).await;
    let images = [
        SeedImage::at("2024-01-02").description("a red kite"),
        SeedImage::at("2024-01-01").place("Red Bank, United States"),
    ];
    let ids = app.seed(&ann, images).await;
    let found = search(&app, &ann, "query=red").await.expect(200);
    assert_eq!(found.ids().len(), 3);
    assert_eq!(*found.ids().last().unwrap(), ids[1], "a match in the place ranks last");
    let both = search(&app, &ann, "query=red&channels=text,image").await.expect(200);
    assert_eq!(both.ids().len(), 2);
    let scores: Vec<f64> = found.column("score").into_iter().map(|score| score.as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| 0.0 < *score && *score <= 1.0));
    assert_eq!(search(&app, &ann, "query=red&limit=1").await.ids(), found.ids()[..1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_apply_to_the_image_channel() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    import(&app, &ann, &[("1.png", RED), ("2.png", RED), ("3.png", BLUE)]).await;
    let all = search(&app, &ann, "query=red").await;
    assert_eq!(all.ids().len(), 2);
    let (first, second) = (&all.results()[0], &all.results()[1]);
    let body = serde_json::json!({"title": "t", "imageIds": [first["id"]]});
    let album = app.post("/albums", &ann.key, &body).await.expect(201);
    let id = album.result()["id"].as_str().unwrap().to_owned();
    assert_eq!(search(&app, &ann, &format!("query=red&albumId={id}")).await.ids(), all.ids()[..1]);
    let from = second["capturedAt"].as_str().unwrap();
    assert_eq!(
        search(&app, &ann, &format!("query=red&startDate={from}&endDate={from}")).await.ids(),
        all.ids()[1..]
    );
    let nowhere = "latitude=1&longitude=1&radiusMeters=20037508";
    assert!(
        search(&app, &ann, &format!("query=red&{nowhere}")).await.ids().is_empty(),
        "they have no position"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_visible_to_the_next_search() {
    let app = TestApp::builder().free_window(2).start().await;
    let ann = app.account("ann").await;
    import(&app, &ann, &[("1.png", RED)]).await;
    assert_eq!(search(&app, &ann, "query=red").await.ids().len(), 1);
    import(&app, &ann, &[("2.png", RED), ("3.png", RED)]).await;
    let found = search(&app, &ann, "query=red&channels=image").await;
    assert_eq!(found.ids().len(), 3);
    app.delete(&format!("/images/{}", found.ids()[0]), &ann.key).await.expect(204);
    assert_eq!(search(&app, &ann, "query=red&channels=image").await.ids().len(), 2);
    import(&app, &ann, &[("4.png", RED)]).await;
    app.set_plan(&ann, domain::Plan::Free).await;
    let listed = app.get("/images", &ann.key).await.ids();
    let mut found = search(&app, &ann, "query=red&channels=image").await.ids();
    found.sort_by_key(|id| listed.iter().position(|known| known == id));
    assert_eq!(found, listed, "the free window applies to the image channel");
    assert_eq!(listed.len(), 2);
}

/// An encoder of the mean colour, which knows one word.
#[derive(Debug)]
struct MeanColour {
    name: &'static str,
    word: &'static str,
}

impl VisualEncoder for MeanColour {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> usize {
        3
    }

    fn longest_side_px(&self) -> u32 {
        64
    }

    fn encode_picture(&self, picture: &Picture) -> Result<Vec<f32>, EncodeError> {
        let mean = |channel: usize| {
            let values = picture.rgb().iter().skip(channel).step_by(3).map(|value| f32::from(*value));
            values.sum::<f32>() / (255.0 * picture.rgb().len() as f32 / 3.0)
        };
        if self.name == "always-fails" || self.name == "fails-on-red" && mean(0) > 0.7 {
            return Err(EncodeError("the test encoder fails".to_owned()));
        }
        Ok(vec![mean(0), mean(1), mean(2)])
    }

    fn encode_query(&self, words: &str) -> Result<Option<EncodedQuery>, EncodeError> {
        let calibration = Calibration { midpoint: 0.5, steepness: 10.0, max_score: 1.0, min_similarity: 0.5 };
        Ok((words == self.word).then(|| EncodedQuery { vector: vec![0.0, 0.0, 1.0], calibration }))
    }
}

/// Models that a test activates, replaces and breaks.
#[derive(Debug, Default)]
struct TestModels {
    active: Mutex<Option<Result<&'static str, String>>>,
    built_in_chosen: AtomicBool,
}

impl TestModels {
    fn choose(&self, model: Result<&'static str, &str>) {
        *self.active.lock().unwrap() = Some(model.map_err(str::to_owned));
    }

    /// No model is active, either because the built-in encoder was chosen or because the models are missing.
    fn clear(&self, built_in_chosen: bool) {
        *self.active.lock().unwrap() = None;
        self.built_in_chosen.store(built_in_chosen, Ordering::Relaxed);
    }

    fn encoder(name: &'static str) -> SharedEncoder {
        let word = if name == "model-1" { "sky" } else { "heaven" };
        Arc::new(MeanColour { name, word })
    }
}

impl ModelSource for TestModels {
    fn active_model(&self) -> Result<Option<SharedEncoder>, String> {
        let active = self.active.lock().unwrap().clone().transpose()?;
        Ok(active.map(Self::encoder))
    }

    fn encoder_by_name(&self, name: &str) -> Option<SharedEncoder> {
        ["model-1", "model-2"].into_iter().find(|known| *known == name).map(Self::encoder)
    }

    fn is_built_in_chosen(&self) -> bool {
        self.built_in_chosen.load(Ordering::Relaxed)
    }
}

/// A service with this model, and an account.
async fn with_model(name: &'static str) -> (Arc<TestModels>, TestApp, TestAccount) {
    let models = Arc::new(TestModels::default());
    models.choose(Ok(name));
    let app = TestApp::builder().models(models.clone()).start().await;
    let ann = app.account("ann").await;
    (models, app, ann)
}

/// Whether a model has processed every image.
async fn is_complete(app: &TestApp, model: &str) -> bool {
    let stage = app.store.stage("model").await.unwrap();
    stage.is_some_and(|stage| stage.complete_version.as_deref() == Some(model))
}

async fn until(condition: impl AsyncFn() -> bool) {
    for _ in 0..600 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the condition was not met in time");
}

/// Indexes until a condition is met.
async fn index_until(app: &TestApp, condition: impl AsyncFn() -> bool) {
    let indexing = app.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
    until(condition).await;
    indexing.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_model_is_502_and_the_text_channel_still_works() {
    let (models, app, ann) = with_model("model-1").await;
    import(&app, &ann, &[("1.png", BLUE), ("2.png", RED)]).await;
    app.seed_one(&ann, SeedImage::at("2024-01-01").description("the sky at noon")).await;
    let by_appearance = async || search(&app, &ann, "query=sky&channels=image").await;
    assert_eq!(names(&by_appearance().await.expect(200)), ["1.png"]);
    assert_eq!(search(&app, &ann, "query=sky").await.ids().len(), 2);

    models.choose(Err("its file is damaged"));
    app.advance(Duration::from_secs(3));
    until(async || by_appearance().await.status == 502).await;
    for query in ["query=sky", "query=sky&channels=text,image", "query=sky&channels=image"] {
        let answer = search(&app, &ann, query).await.expect(502);
        assert!(answer.error().contains("channels=text") && answer.header("retry-after").is_some());
    }
    assert_eq!(search(&app, &ann, "query=sky&channels=text").await.expect(200).ids().len(), 1);
    assert_eq!(search(&app, &ann, "latitude=1&longitude=1&radiusMeters=9").await.expect(200).ids().len(), 0);

    models.choose(Ok("model-1"));
    app.advance(Duration::from_secs(3));
    until(async || by_appearance().await.status == 200).await;
    assert_eq!(names(&by_appearance().await), ["1.png"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn previous_model_serves_until_the_new_one_is_complete() {
    let (models, app, ann) = with_model("model-1").await;
    import(&app, &ann, &[("1.png", BLUE), ("2.png", RED)]).await;
    let found = async |word: &str| names(&search(&app, &ann, &format!("query={word}&channels=image")).await);
    index_until(&app, async || is_complete(&app, "model-1").await).await;
    assert_eq!(found("sky").await, ["1.png"]);

    models.choose(Ok("model-2"));
    app.advance(Duration::from_secs(3));
    // Searches refresh the active model, whose stage is not indexed yet.
    until(async || {
        found("sky").await;
        let stages = app.library.indexer.search_progress(Some(ann.id)).await.unwrap();
        stages.iter().any(|stage| stage.stage == SearchStage::Model)
    })
    .await;
    assert_eq!((found("sky").await, found("heaven").await), (vec!["1.png".to_owned()], vec![]));
    index_until(&app, async || is_complete(&app, "model-2").await).await;
    assert_eq!((found("sky").await, found("heaven").await), (vec![], vec!["1.png".to_owned()]));
    index_until(&app, async || app.store.encoder("model-1").await.unwrap().is_none()).await;
    assert_eq!(found("heaven").await, ["1.png"]);
    let stages = app.library.indexer.search_progress(None).await.unwrap();
    assert!(stages.iter().all(|stage| stage.waiting == 0 && stage.failed == 0), "{stages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_vectors_are_502_and_computed_again() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    import(&app, &ann, &[("1.png", RED), ("2.png", RED)]).await;
    while app.store.prune_vectors(&[], 100).await.unwrap() > 0 {}
    search(&app, &ann, "query=red&channels=image").await.expect(502);
    search(&app, &ann, "query=red&channels=text").await.expect(200);
    search(&app, &ann, "query=red").await.expect(200);
    let finds_both = async || {
        let found = search(&app, &ann, "query=red&channels=image").await;
        found.status == 200 && found.ids().len() == 2
    };
    index_until(&app, finds_both).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_have_separate_indexes() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    search(&app, &ben, "query=red&channels=image").await.expect(200);
    import(&app, &ann, &[("1.png", RED)]).await;
    app.seed_one(&ben, SeedImage::at("2024-01-01").description("a red kite")).await;
    search(&app, &ann, "query=red&channels=image").await.expect(200);
    search(&app, &ben, "query=red&channels=image").await.expect(502);
    assert_eq!(search(&app, &ben, "query=red").await.expect(200).ids().len(), 1);
}

/// How many images wait for the vision model, and how many failed.
async fn model_progress(app: &TestApp) -> (u64, u64) {
    let stages = app.library.indexer.search_progress(None).await.unwrap();
    let model = stages.into_iter().find(|stage| stage.stage == SearchStage::Model).unwrap();
    (model.waiting, model.failed)
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_photo_does_not_delay_others() {
    let (_, app, ann) = with_model("fails-on-red").await;
    import(&app, &ann, &[("1.png", BLUE), ("2.png", RED), ("3.png", BLUE)]).await;
    assert_eq!(model_progress(&app).await, (0, 1));
    assert_eq!(search(&app, &ann, "query=heaven&channels=image").await.ids().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_model_is_paused_and_imports_do_not_wait_for_it() {
    let (models, app, ann) = with_model("always-fails").await;
    import(&app, &ann, &[("1.png", BLUE), ("2.png", RED), ("3.png", BLUE)]).await;
    assert_eq!(model_progress(&app).await, (3, 0), "no photo counts as failed");
    assert_eq!(search(&app, &ann, "query=blue&channels=text,image").await.expect(200).ids().len(), 2);
    models.choose(Ok("model-1"));
    app.advance(Duration::from_secs(11));
    index_until(&app, async || is_complete(&app, "model-1").await).await;
    assert_eq!(search(&app, &ann, "query=sky&channels=image").await.ids().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_a_model_are_kept_until_another_is_chosen() {
    let (models, app, ann) = with_model("model-1").await;
    import(&app, &ann, &[("1.png", BLUE)]).await;
    index_until(&app, async || is_complete(&app, "model-1").await).await;
    models.clear(false);
    app.advance(Duration::from_secs(3));
    // When this photo is indexed, the stages for the present models have been chosen.
    import(&app, &ann, &[("2.png", RED)]).await;
    assert!(app.store.encoder("model-1").await.unwrap().is_some(), "its vectors are kept");
    let stages = app.library.indexer.search_progress(None).await.unwrap();
    assert!(stages.iter().all(|stage| stage.stage != SearchStage::Model), "its stage is off: {stages:?}");

    models.clear(true);
    app.advance(Duration::from_secs(3));
    index_until(&app, async || app.store.encoder("model-1").await.unwrap().is_none()).await;
    // The vectors of the first model are deleted, so they cannot serve searches until the second model is complete.
    models.choose(Ok("model-2"));
    app.advance(Duration::from_secs(3));
    index_until(&app, async || is_complete(&app, "model-2").await).await;
    assert!(app.store.encoder("model-1").await.unwrap().is_none());
    assert_eq!(names(&search(&app, &ann, "query=heaven&channels=image").await), ["1.png"]);
}

/// A newer program with another built-in encoder works on the same store.
#[tokio::test(flavor = "multi_thread")]
async fn stage_of_a_newer_program_is_left_unchanged() {
    const NEWER: &str = "appearance-9";
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    import(&app, &ann, &[("1.png", RED), ("2.png", BLUE)]).await;
    let by_appearance = async || search(&app, &ann, "query=red&channels=image").await.expect(200).ids().len();
    assert_eq!(by_appearance().await, 1);
    let waiting = async || {
        let stages = app.store.stage_progress(None).await.unwrap();
        stages.into_iter().find(|stage| stage.stage.name == "appearance").unwrap().waiting
    };
    for turn in 0..2 {
        // The newer program takes over the stage, and processes one image before it ends.
        let newer = app.store.open_stage("appearance", NEWER, 9, VersionPolicy::Replace).await.unwrap();
        assert_eq!((newer.version.as_str(), newer.revision), (NEWER, 9));
        while app.store.backfill_stage(newer.id, BackfillFilter::WithoutVector(NEWER), 100).await.unwrap() {}
        let at = app.library.clock().now();
        let lease =
            LeaseRequest { worker: "newer", at, until: at.plus_millis(9_000), max: 1, max_attempts: 9 };
        let job = app.store.lease_stage_jobs(newer.id, lease).await.unwrap().remove(0);
        let vectors = vec![NewVector { encoder: NEWER.to_owned(), vector: vec![0, 60, 0, 60] }];
        let outcome = StageOutcome::Vectors(vectors);
        assert!(app.store.complete_stage_job(job.id, "newer", NEWER, outcome).await.unwrap());
        let left = waiting().await;
        assert_eq!(left, 1);

        // This program imports a photo, and completes all of its own work.
        let name = format!("more-{turn}.png");
        import(&app, &ann, &[(&name, RED)]).await;
        let indexing = app.library.indexer.start_indexing(IndexingScope::Everything).unwrap();
        until(async || app.store.queue_length().await.unwrap().renditions == 0).await;
        indexing.stop().await;
        let stage = app.store.stage("appearance").await.unwrap().unwrap();
        assert_eq!(
            (stage.version.as_str(), stage.revision),
            (NEWER, 9),
            "the stage still belongs to the newer program"
        );
        assert_eq!(waiting().await, left + 1, "its queue only gained the new photo");
        assert!(app.store.encoder(NEWER).await.unwrap().is_some(), "its vectors are kept");
        assert_eq!(by_appearance().await, 1, "searches use the older vectors");
    }
}
