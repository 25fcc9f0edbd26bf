//! How good searches are: a pool of pictures, searches over text, colour, tone, layout, place and date, and for each
//! which pictures it should find, judged by looking at all of them.
//!
//! The pool is imported into an empty library and served, and every search goes over HTTP. Printed are the precision
//! among the first five results (of fewer, when there are not five to be found) and the mean reciprocal rank of the
//! first right one. Pictures that one may see either way are passed over. Without a folder of photos the pool is what
//! ships with the source and what is made here.

mod judged;
mod made;
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

use judged::{Judged, JudgedQuery};

/// So many results count.
const FIRST: usize = 5;
/// So long the server may take to find out what it has not found out during the import.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder of photos with those that `tests/judged/photos.toml` names
    dir: Option<PathBuf>,
    /// How many of the worst searches to show
    #[arg(long, default_value_t = 15)]
    worst: usize,
    /// Show these searches alone, with all that they found
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
}

/// How a search went.
struct Outcome<'a> {
    query: &'a JudgedQuery,
    precision: f64,
    reciprocal_rank: f64,
    /// The first ones that were found, with their scores.
    found: Vec<(String, f64)>,
    wanted: BTreeSet<&'a str>,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    let judged = Judged::read()?;
    let unknown = judged.unknown();
    if !unknown.is_empty() {
        return Err(format!("unknown names in tests/judged: {}", unknown.join(", ")).into());
    }
    let (pool, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let names = fill(pool.path(), &judged, options.dir.as_deref())?;
    let instance = Instance::create(data.path(), &[])?;
    let imported = instance.import(&[pool.path()])?;
    println!(
        "{} pictures in {:.0} s; {} refused",
        imported.imported,
        imported.took.as_secs_f64(),
        imported.failed.len()
    );
    let server = instance.serve()?;
    let asker = Asker { http: reqwest::Client::new(), server, key: instance.create_key()?, names };
    asker.wait_for_looks().await?;
    let there: BTreeSet<&str> = asker.names.values().map(String::as_str).collect();
    let mut outcomes = Vec::new();
    for query in &judged.queries {
        if options.only.as_ref().is_some_and(|only| *only != query.query) {
            continue;
        }
        let (wanted, either) = judged.wanted(query)?;
        let wanted: BTreeSet<&str> = wanted.into_iter().filter(|name| there.contains(name)).collect();
        if !wanted.is_empty() {
            let found = asker.ask(query).await?;
            outcomes.push(judge(query, wanted, &either, found));
        }
    }
    print(&outcomes, options);
    asker.server.stop()
}

/// Puts the pool into a folder, under names that say nothing, and gives what each is really called.
fn fill(folder: &Path, judged: &Judged, photos: Option<&Path>) -> Result<HashMap<String, String>, AnyError> {
    let mut names = HashMap::new();
    for (name, path) in judged.photos(photos) {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let file_name = format!("p{:03}.{extension}", names.len());
        fs::copy(&path, folder.join(&file_name))?;
        names.insert(file_name, name.to_owned());
    }
    for made in made::ALL {
        let file_name = format!("p{:03}.jpg", names.len());
        made.write(&folder.join(&file_name))?;
        names.insert(file_name, made.name.to_owned());
    }
    Ok(names)
}

struct Asker {
    http: reqwest::Client,
    server: Server,
    key: String,
    names: HashMap<String, String>,
}

impl Asker {
    /// What a search finds, best first: names with scores.
    async fn ask(&self, query: &JudgedQuery) -> Result<Vec<(String, f64)>, AnyError> {
        let mut parameters = vec![("query", query.query.clone()), ("limit", "100".to_owned())];
        let given =
            [("channels", &query.channels), ("startDate", &query.start_date), ("endDate", &query.end_date)];
        parameters.extend(given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
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

    /// Waits until searches by looks are answered.
    async fn wait_for_looks(&self) -> Result<(), AnyError> {
        let url = format!("{}/api/ext/v2/search?query=red&channels=image", self.server.base_url());
        let began = Instant::now();
        loop {
            let status = self.http.get(&url).bearer_auth(&self.key).send().await?.status();
            if status.is_success() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(format!("searches by looks are answered with {status}").into());
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }
}

fn judge<'a>(
    query: &'a JudgedQuery,
    wanted: BTreeSet<&'a str>,
    either: &BTreeSet<&str>,
    found: Vec<(String, f64)>,
) -> Outcome<'a> {
    let found: Vec<(String, f64)> =
        found.into_iter().filter(|(name, _)| !either.contains(name.as_str())).collect();
    let right = |(name, _): &(String, f64)| wanted.contains(name.as_str());
    let hits = found.iter().take(FIRST).filter(|hit| right(hit)).count();
    let rank = found.iter().position(right);
    Outcome {
        query,
        precision: hits as f64 / FIRST.min(wanted.len()) as f64,
        reciprocal_rank: rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
        found,
        wanted,
    }
}

fn print(outcomes: &[Outcome<'_>], options: &Options) {
    let mut kinds: BTreeMap<&str, Vec<&Outcome<'_>>> = BTreeMap::new();
    for outcome in outcomes {
        kinds.entry(&outcome.query.kind).or_default().push(outcome);
    }
    println!("\n{:<12} {:>8} {:>16} {:>22}", "kind", "searches", "precision at 5", "mean reciprocal rank");
    let row = |name: &str, outcomes: &[&Outcome<'_>]| {
        let mean = |number: &dyn Fn(&Outcome<'_>) -> f64| {
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
    let mut worst: Vec<&Outcome<'_>> =
        outcomes.iter().filter(|outcome| options.only.is_some() || outcome.precision < 1.0).collect();
    worst.sort_by(|one, other| one.precision.total_cmp(&other.precision));
    let most = if options.only.is_some() { usize::MAX } else { FIRST };
    for outcome in worst.iter().take(options.worst) {
        println!(
            "\n{:.2}  {} ({}, {} to be found)",
            outcome.precision,
            outcome.query.query,
            outcome.query.kind,
            outcome.wanted.len()
        );
        for (name, score) in outcome.found.iter().take(most) {
            let mark = if outcome.wanted.contains(name.as_str()) { '+' } else { '-' };
            println!("      {mark} {score:.3} {name}");
        }
    }
}
