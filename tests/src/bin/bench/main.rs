//! Measures the service from outside: the real server as a process of its own, driven over loopback.
//!
//! `bench api [IMAGES…]` builds libraries of so many images (10,000 and 100,000 unless told) and measures list, get,
//! circle, text search and library info. `bench import [DIR]` imports a folder of photos (the bundled samples unless
//! told). Figures are printed, never judged.

mod api;
mod import;
mod load;
mod process;
mod seeding;

use std::{path::PathBuf, process::ExitCode};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<ExitCode, AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("all", &[][..]),
    };
    match task {
        "api" => api::run(&sizes(rest)?).await?,
        "import" => import::run(&folder(rest)).await?,
        "all" => {
            api::run(&sizes(&[])?).await?;
            import::run(&folder(&[])).await?;
        }
        _ => {
            eprintln!("usage: bench [api [IMAGES…] | import [DIR]]");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn sizes(arguments: &[String]) -> Result<Vec<u32>, AnyError> {
    if arguments.is_empty() {
        return Ok(vec![10_000, 100_000]);
    }
    arguments
        .iter()
        .map(|size| size.parse().map_err(|_| format!("{size} is not a number of images").into()))
        .collect()
}

fn folder(arguments: &[String]) -> PathBuf {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/samples");
    arguments.first().map_or_else(|| PathBuf::from(samples), PathBuf::from)
}
