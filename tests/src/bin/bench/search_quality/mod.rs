//! Measures the quality of search results: searches by text, colour, tone, layout, place and date over a pool of
//! pictures that were labelled by looking at all of them.
//!
//! The pool is imported into an empty library, and each search is sent over HTTP. The output is the precision at five (at
//! fewer if there are fewer relevant pictures) and the mean reciprocal rank. Ambiguous pictures are ignored. Without a
//! folder of photos, the pool is the fixtures and the generated pictures.

mod generated;
mod labels;
mod paint;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ::tests::black_box::{AnyError, Instance, Server};
use clap::Args;
use serde_json::Value;

use labels::{LabelledData, LabelledQuery};

/// Number of results for the precision.
const TOP: usize = 5;
/// Time-out for the indexing that continues after the import.
const INDEXING_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder of the photos in tests/judged/photos.toml
    dir: Option<PathBuf>,
    /// Number of worst searches to show
    #[arg(long, default_value_t = 15)]
    worst: usize,
    /// Run only this search, and show all its results
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
}

/// The quality of a search.
struct SearchOutcome<'a> {
    query: &'a LabelledQuery,
    precision: f64,
    reciprocal_rank: f64,
    /// Names and scores of the results, without ambiguous pictures.
    results: Vec<(String, f64)>,
    relevant: BTreeSet<&'a str>,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let data = LabelledData::read()?;
    let unknown = data.unknown();
    if !unknown.is_empty() {
        return Err(format!("unknown names in tests/judged: {}", unknown.join(", ")).into());
    }
    let (pool, data_dir) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let names = write_pool(pool.path(), &data, options.dir.as_deref())?;
    let instance = Instance::create(data_dir.path(), &[])?;
    let imported = instance.import(&[pool.path()])?;
    println!(
        "{} pictures in {:.0} s; {} refused",
        imported.imported,
        imported.took.as_secs_f64(),
        imported.failed.len()
    );
    let server = instance.serve()?;
    let client = SearchClient { http: reqwest::Client::new(), server, key: instance.create_key()?, names };
    client.wait_until_searchable().await?;
    let pool: BTreeSet<&str> = client.names.values().map(String::as_str).collect();
    let mut outcomes = Vec::new();
    for query in &data.queries {
        if options.only.as_ref().is_some_and(|only| *only != query.query) {
            continue;
        }
        let (relevant, ambiguous) = data.relevance(query)?;
        let relevant: BTreeSet<&str> = relevant.into_iter().filter(|name| pool.contains(name)).collect();
        if !relevant.is_empty() {
            let results = client.search(query).await?;
            outcomes.push(evaluate(query, relevant, &ambiguous, results));
        }
    }
    print(&outcomes, options);
    client.server.stop()
}

/// Writes the pool into a folder under neutral file names. Returns the picture name of each file.
fn write_pool(
    folder: &Path,
    data: &LabelledData,
    photos: Option<&Path>,
) -> Result<HashMap<String, String>, AnyError> {
    let mut names = HashMap::new();
    for (name, path) in data.photos(photos) {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let file_name = format!("p{:03}.{extension}", names.len());
        fs::copy(&path, folder.join(&file_name))?;
        names.insert(file_name, name.to_owned());
    }
    for picture in generated::ALL {
        let file_name = format!("p{:03}.jpg", names.len());
        picture.write(&folder.join(&file_name))?;
        names.insert(file_name, picture.name.to_owned());
    }
    Ok(names)
}

struct SearchClient {
    http: reqwest::Client,
    server: Server,
    key: String,
    names: HashMap<String, String>,
}

impl SearchClient {
    /// The results of a search, best first: names with scores.
    async fn search(&self, query: &LabelledQuery) -> Result<Vec<(String, f64)>, AnyError> {
        let mut parameters = vec![("query", query.query.clone()), ("limit", "100".to_owned())];
        let optional =
            [("channels", &query.channels), ("startDate", &query.start_date), ("endDate", &query.end_date)];
        parameters.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
        if let Some([latitude, longitude, radius]) = query.circle {
            parameters.push(("latitude", latitude.to_string()));
            parameters.push(("longitude", longitude.to_string()));
            parameters.push(("radiusMeters", radius.to_string()));
        }
        let url = format!("{}/api/ext/v2/search", self.server.base_url());
        let url = url::Url::parse_with_params(&url, parameters)?;
        let response = self.http.get(url).bearer_auth(&self.key).send().await?;
        let (status, body) = (response.status(), response.bytes().await?);
        let json: Value = serde_json::from_slice(&body)?;
        let results = json.get("results").and_then(Value::as_array);
        let results = results.ok_or_else(|| format!("{}: {status} {json}", query.query))?;
        let named = |result: &Value| {
            let name = self.names.get(result.get("fileName")?.as_str()?)?;
            Some((name.clone(), result.get("score").and_then(Value::as_f64).unwrap_or_default()))
        };
        Ok(results.iter().filter_map(named).collect())
    }

    /// Waits until searches by image succeed.
    async fn wait_until_searchable(&self) -> Result<(), AnyError> {
        let url = format!("{}/api/ext/v2/search?query=red&channels=image", self.server.base_url());
        let began = Instant::now();
        loop {
            let status = self.http.get(&url).bearer_auth(&self.key).send().await?.status();
            if status.is_success() {
                return Ok(());
            }
            if began.elapsed() > INDEXING_TIMEOUT {
                return Err(format!("searches by image are answered with {status}").into());
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }
}

fn evaluate<'a>(
    query: &'a LabelledQuery,
    relevant: BTreeSet<&'a str>,
    ambiguous: &BTreeSet<&str>,
    results: Vec<(String, f64)>,
) -> SearchOutcome<'a> {
    let results: Vec<(String, f64)> =
        results.into_iter().filter(|(name, _)| !ambiguous.contains(name.as_str())).collect();
    let is_relevant = |(name, _): &(String, f64)| relevant.contains(name.as_str());
    let hits = results.iter().take(TOP).filter(|result| is_relevant(result)).count();
    let rank = results.iter().position(is_relevant);
    SearchOutcome {
        query,
        precision: hits as f64 / TOP.min(relevant.len()) as f64,
        reciprocal_rank: rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
        results,
        relevant,
    }
}

fn print(outcomes: &[SearchOutcome<'_>], options: &Options) {
    let mut kinds: BTreeMap<&str, Vec<&SearchOutcome<'_>>> = BTreeMap::new();
    for outcome in outcomes {
        kinds.entry(&outcome.query.kind).or_default().push(outcome);
    }
    println!("\n{:<12} {:>8} {:>16} {:>22}", "kind", "searches", "precision at 5", "mean reciprocal rank");
    let row = |name: &str, outcomes: &[&SearchOutcome<'_>]| {
        let mean = |number: &dyn Fn(&SearchOutcome<'_>) -> f64| {
            outcomes.iter().map(|outcome| number(outcome)).sum::<f64>() / outcomes.len().max(1) as f64
        };
        let (precision, rank) =
            (mean(&|outcome| outcome.precision), mean(&|outcome| outcome.reciprocal_rank));
        println!("{name:<12} {:>8} {precision:>16.3} {rank:>22.3}", outcomes.len());
    };
    for (kind, outcomes) in &kinds {
        row(kind, outcomes);
    }
    row("all", &outcomes.iter().collect::<Vec<_>>());
    let mut worst: Vec<&SearchOutcome<'_>> =
        outcomes.iter().filter(|outcome| options.only.is_some() || outcome.precision < 1.0).collect();
    worst.sort_by(|one, other| one.precision.total_cmp(&other.precision));
    let most = if options.only.is_some() { usize::MAX } else { TOP };
    for outcome in worst.iter().take(options.worst) {
        println!(
            "\n{:.2}  {} ({}, {} relevant)",
            outcome.precision,
            outcome.query.query,
            outcome.query.kind,
            outcome.relevant.len()
        );
        for (name, score) in outcome.results.iter().take(most) {
            let mark = if outcome.relevant.contains(name.as_str()) { '+' } else { '-' };
            println!("      {mark} {score:.3} {name}");
        }
    }
}
