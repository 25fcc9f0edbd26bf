//! Metrics for operators.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs, io,
    path::Path,
};

use futures_util::stream;
use library::Upload;
use tests::{TestApp, fixture};

/// The value of each time series.
pub(crate) async fn read(url: &str) -> BTreeMap<String, f64> {
    let response = reqwest::get(format!("{url}/metrics")).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4");
    let text = response.text().await.unwrap();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            (series.to_owned(), value.parse().unwrap())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_route_method_and_status() {
    let app = TestApp::start().await;
    let url = app.serve_metrics().await;
    let requests = |route: &str, status: u16| {
        format!(r#"photos_http_requests_total{{method="GET",route="{route}",status="{status}"}}"#)
    };
    for path in ["/api/ext/v2/images/one", "/api/ext/v2/images/two", "/healthz", "/wp-login.php", "/.env"] {
        app.fetch(path).await;
    }
    let metrics = read(&url).await;
    assert_eq!(metrics[&requests("/api/ext/v2/images/{id}", 401)], 2.0);
    assert_eq!(metrics[&requests("/healthz", 200)], 1.0);
    assert_eq!(metrics[&requests("other", 404)], 2.0);
    assert_eq!(metrics[r#"photos_http_request_duration_seconds_count{route="other"}"#], 2.0);
    assert_eq!(metrics["photos_http_requests_in_progress"], 0.0);
    assert!(metrics["process_resident_memory_bytes"] > 1e6);
    assert!(metrics.keys().all(|series| !series.contains("wp-login") && !series.contains(r#""/metrics""#)));
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_stores_and_caches_are_reported() {
    let app = TestApp::start().await;
    let url = app.serve_metrics().await;
    let ann = app.account("ann").await;
    // No indexer runs, so the photo stays in the queue.
    let photo = fs::read(fixture("media/landscape-6.jpg")).unwrap();
    let bytes = stream::iter([Ok::<_, io::Error>(photo.into())]);
    app.library.ingest.import_stream(ann.id, Upload::default(), bytes).await.unwrap();
    app.clock.advance_ms(90_000);
    let metrics = read(&url).await;
    assert_eq!(metrics[r#"photos_queue_jobs{queue="new"}"#], 1.0);
    assert_eq!(metrics[r#"photos_queue_oldest_age_seconds{queue="new"}"#], 90.0);
    assert_eq!(metrics[r#"photos_failed_jobs{queue="new"}"#], 0.0);
    assert_eq!(metrics[r#"photos_store_up{store="metadata"}"#], 1.0);
    assert_eq!(metrics[r#"photos_store_up{store="blobs"}"#], 1.0);
    assert_eq!(metrics[r#"photos_cache_bytes{cache="renditions"}"#], 0.0);
    assert_eq!(metrics[r#"photos_decoder_jobs{state="running"}"#], 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_report_an_unavailable_store() {
    let app = TestApp::builder().unmigrated().start().await;
    let metrics = read(&app.serve_metrics().await).await;
    assert_eq!(metrics[r#"photos_store_up{store="metadata"}"#], 0.0);
    assert!(!metrics.keys().any(|series| series.starts_with("photos_queue_jobs")));
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_served_by_a_separate_listener() {
    let app = TestApp::start().await;
    let url = app.serve_metrics().await;
    app.fetch("/metrics").await.expect(404);
    let client = reqwest::Client::new();
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    assert_eq!(status(client.get(&url)).await, 404);
    assert_eq!(status(client.get(format!("{url}/api/ext/v2/images"))).await, 404);
    assert_eq!(status(client.post(format!("{url}/metrics"))).await, 405);
    assert_eq!(status(client.head(format!("{url}/metrics"))).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_and_the_dashboard_name_existing_metrics() {
    let app = TestApp::start().await;
    let url = app.serve_metrics().await;
    app.fetch("/healthz").await;
    assert!(!read(&url).await.contains_key("photos_certificate_expiry_timestamp_seconds"));
    // A server with TLS reports each certificate that it loads.
    app.web().certificate_ends(1);
    app.web().certificate_ends(2);
    assert_eq!(read(&url).await["photos_certificate_expiry_timestamp_seconds"], 2.0);
    let series: Vec<String> = read(&url).await.into_keys().collect();
    let names: HashSet<&str> =
        series.iter().map(|series| series.split('{').next().unwrap_or_default()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/monitoring");
    for (file, at_least) in [("alerts.yml", 7), ("grafana.json", 12)] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named: BTreeSet<&str> =
            words.filter(|word| word.starts_with("photos_") || word.starts_with("process_")).collect();
        assert!(named.len() >= at_least, "{file}: {named:?}");
        for name in named {
            assert!(names.contains(name), "{file}: {name} is not among {names:?}");
        }
    }
}
