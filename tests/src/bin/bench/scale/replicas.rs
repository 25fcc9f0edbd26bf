use std::{path::Path, process::Command};

use ::tests::black_box::{AnyError, Server, program};
use reqwest::Client;

use crate::load::{self, ms};

/// Number of measured requests of each kind. A warm-up of a tenth of them comes first.
const REQUESTS: usize = 4000;
const CONNECTIONS: usize = 16;
const MAX_REPLICAS: usize = 3;

/// Measures requests that are spread evenly over one, two and three servers on one database.
pub(super) async fn measure(database_url: &str, key: &str) -> Result<(), AnyError> {
    println!(
        "{:<34} {:>8} {:>9} {:>10} {:>10} {:>12}",
        "request", "replicas", "req/s", "p50 ms", "p99 ms", "CPU µs/req"
    );
    let folder = tempfile::tempdir()?;
    let http = load::client_with_key(key)?;
    let mut servers: Vec<Server> = Vec::new();
    for number in 0..MAX_REPLICAS {
        let data_dir = folder.path().join(number.to_string());
        std::fs::create_dir_all(&data_dir)?;
        servers.push(server_on(database_url, &data_dir)?);
        for (name, path) in
            [("list, newest 50", "images"), ("search a common word", "search?query=beach&channels=text")]
        {
            run(&servers, &http, name, path).await?;
        }
    }
    Ok(())
}

/// Starts a server on a Postgres database.
pub(crate) fn server_on(database_url: &str, data_dir: &Path) -> Result<Server, AnyError> {
    let mut command = Command::new(program()?);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data_dir)
        .env("PHOTOS_DATABASE_URL", database_url)
        .env("PHOTOS_SECRET", "a secret that is only good for measurements")
        .env("PHOTOS_OCR_LANGUAGES", "off");
    Server::start(&mut command, data_dir)
}

async fn run(servers: &[Server], http: &Client, name: &str, path: &str) -> Result<(), AnyError> {
    let urls: Vec<String> = servers
        .iter()
        .cycle()
        .take(REQUESTS)
        .map(|server| format!("{}/api/ext/v2/{path}", server.base_url()))
        .collect();
    let warm_up = urls.iter().take(REQUESTS / 10).cloned().collect();
    load::run(http, warm_up, CONNECTIONS).await?;
    let cpu = || servers.iter().map(|server| server.usage().cpu.as_secs_f64()).sum::<f64>();
    let before = cpu();
    let figures = load::run(http, urls, CONNECTIONS).await?;
    let cpu_us = (cpu() - before) * 1e6 / f64::from(u32::try_from(REQUESTS)?);
    println!(
        "{name:<34} {:>8} {:>9.0} {:>10.2} {:>10.2} {cpu_us:>12.0}",
        servers.len(),
        figures.per_second,
        ms(figures.p50),
        ms(figures.p99)
    );
    Ok(())
}
