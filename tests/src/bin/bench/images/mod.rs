//! Measures signed image URLs, and nginx with the same bytes in a file, without any check.
//!
//! The server imports the bundled samples, and one of their renditions is requested again and again. The servers run on one
//! processor and the clients on another. Rounds alternate.

mod nginx;

use std::{collections::BTreeMap, process::Command, time::Duration};

use ::tests::{
    black_box::{AnyError, Instance, Server, megabytes},
    fixtures,
};
use clap::Args;
use serde::Deserialize;

use self::nginx::Nginx;
use crate::{
    closed_loop::{LoadClient, Until, measure},
    connection::Connection,
    table::Table,
};

const SIGNED: &str = "signed URL";
const FILE: &str = "nginx: file";
const SERVER_PROCESSOR: u32 = 0;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Time to measure each kind of request, in seconds
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Number of rounds
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Numbers of concurrent connections
    #[arg(long, num_args = 1.., default_values_t = [1, 16], value_parser = clap::value_parser!(u16).range(1..=100))]
    connections: Vec<u16>,
    /// Length of the rendition in bytes; the nearest one is measured
    #[arg(long, default_value_t = 42_000)]
    bytes: usize,
    /// Do not measure nginx
    #[arg(long)]
    without_peer: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let instance = Instance::create(&folder.path().join("library"), &[])?;
    instance.import(&[fixtures().join("samples")])?;
    let key = instance.create_key()?;
    let server = instance.on_processor(SERVER_PROCESSOR).serve()?;
    server.wait_until_idle()?;
    let Picture { path, body } = nearest(&server, &key, options.bytes)?;
    println!("\nsigned URLs: a rendition of {} bytes, {} s each", body.len(), options.seconds);
    println!("{}", crate::machine());
    let nginx = if options.without_peer { None } else { Some(Nginx::start(folder.path(), &body)?) };
    pin_clients()?;
    let mut table = Table::new();
    for round in 1..=options.rounds {
        for &connections in &options.connections {
            let mut measure = |name: &str, base_url: &str, path: &str, cpu: &dyn Fn() -> Duration| {
                let mut clients = clients(base_url, path, &body, connections)?;
                let figures =
                    measure(&mut clients, Until::Elapsed(Duration::from_secs(options.seconds)), cpu)?;
                table.add(round, &row_name(name, connections), figures);
                Ok::<_, AnyError>(())
            };
            measure(SIGNED, server.base_url(), &path, &|| server.own_cpu())?;
            if let Some(nginx) = &nginx {
                measure(FILE, nginx.base_url(), nginx::PATH, &|| nginx.cpu())?;
            }
        }
    }
    table.print_medians();
    for &connections in options.connections.iter().filter(|_| nginx.is_some()) {
        table.print_ratio(&row_name(SIGNED, connections), &row_name(FILE, connections));
    }
    println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
    server.stop()
}

fn row_name(name: &str, connections: u16) -> String {
    format!("{connections:>2} × {name}")
}

/// A rendition behind a signed URL.
struct Picture {
    path: String,
    body: Vec<u8>,
}

/// The rendition whose length is nearest to this one.
fn nearest(server: &Server, key: &str, bytes: usize) -> Result<Picture, AnyError> {
    #[derive(Deserialize)]
    struct List {
        results: Vec<Image>,
    }
    #[derive(Deserialize)]
    struct One {
        result: Image,
    }
    #[derive(Deserialize)]
    struct Image {
        id: String,
        renditions: BTreeMap<String, String>,
    }
    let mut connection = Connection::open(server.base_url())?;
    let mut get = |path: &str| {
        let status = connection.get(path, Some(key))?;
        if status == 200 {
            Ok(connection.body().to_owned())
        } else {
            Err(AnyError::from(format!("{path}: {status}")))
        }
    };
    let listed: List = serde_json::from_slice(&get("/api/ext/v2/images?limit=100")?)?;
    let mut nearest: Option<Picture> = None;
    for image in listed.results {
        let one: One = serde_json::from_slice(&get(&format!("/api/ext/v2/images/{}", image.id))?)?;
        for (_, url) in one.result.renditions.iter().filter(|(name, _)| *name != "webp-full") {
            let path = url.strip_prefix(server.base_url()).ok_or("a URL of another service")?;
            let body = get(path)?;
            if nearest
                .as_ref()
                .is_none_or(|best| body.len().abs_diff(bytes) < best.body.len().abs_diff(bytes))
            {
                nearest = Some(Picture { path: path.to_owned(), body });
            }
        }
    }
    nearest.ok_or_else(|| "no images were imported".into())
}

/// Clients that request one path. The first response must have this body.
fn clients(base_url: &str, path: &str, body: &[u8], connections: u16) -> Result<Vec<LoadClient>, AnyError> {
    let client = |_| {
        let mut connection = Connection::open(base_url)?;
        let path = path.to_owned();
        if connection.get(&path, None)? != 200 || connection.body() != body {
            return Err(format!("{path} has another body").into());
        }
        let client: LoadClient = Box::new(move || match connection.get(&path, None)? {
            200 => Ok(true),
            status => Err(format!("{path} answered {status}").into()),
        });
        Ok(client)
    };
    (0..connections).map(client).collect()
}

/// Moves this process, which has the clients, to another processor than the servers.
fn pin_clients() -> Result<(), AnyError> {
    let mut taskset = Command::new("taskset");
    taskset.args(["--all-tasks", "--cpu-list", "--pid", "1", &std::process::id().to_string()]);
    let output = taskset.output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("the clients cannot be pinned: {}", String::from_utf8_lossy(&output.stderr)).into())
    }
}
