//! The pool with real worker processes: honest ones, and ones that a file has turned hostile.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod confinement;
mod decoding;
mod faults;
mod looking;
mod reading;
mod scheduling;

use std::{convert::Infallible, path::PathBuf, time::Duration};

use bytes::Bytes;
use domain::{FileInfo, Timestamp};
use sandbox::{
    DecodeError, DecodeTask, DecodedPhoto, FileFault, Pool, PoolOptions, RequestedRenditions, Urgency,
    WorkerCommand,
};

/// What these tests do not wait longer for. Nothing here takes so long on any machine.
const AGES: Duration = Duration::from_secs(600);

type Outcome = Result<DecodedPhoto, DecodeError<Infallible>>;

fn worker(example: &str, args: &[&str]) -> WorkerCommand {
    let tests = std::env::current_exe().unwrap();
    let program: PathBuf = tests.ancestors().nth(2).unwrap().join("examples").join(example);
    assert!(program.exists(), "{} is built by `cargo test` without a choice of targets", program.display());
    let args = args.iter().map(|arg| (*arg).into()).collect();
    WorkerCommand { program, args, environment: Vec::new() }
}

fn honest() -> PoolOptions {
    PoolOptions {
        wall_limit: AGES,
        cpu_limit: AGES,
        idle_limit: AGES,
        ..PoolOptions::new(worker("decoder", &[]))
    }
}

/// A pool of workers that do what a file tells them: see the example.
fn hostile() -> PoolOptions {
    PoolOptions { command: worker("hostile_decoder", &[]), ..honest() }
}

fn task() -> DecodeTask {
    let added = Timestamp::parse_iso("2024-05-01").unwrap();
    let info = FileInfo { name: Some("wisteria.jpg".into()), ..FileInfo::added_at(added) };
    DecodeTask { renditions: RequestedRenditions::Displayable, read_metadata: Some(info) }
}

async fn ask(pool: &Pool, file: &[u8], urgency: Urgency) -> Outcome {
    pool.decode(&Bytes::copy_from_slice(file), &task(), urgency).await
}

/// Hands a misdeed to a hostile worker.
async fn tell(pool: &Pool, misdeed: &str) -> Outcome {
    ask(pool, format!("hostile:{misdeed}").as_bytes(), Urgency::Background).await
}

fn fault(outcome: Outcome) -> FileFault {
    match outcome {
        Err(DecodeError::File(fault)) => fault,
        other => panic!("no fault of the file: {other:?}"),
    }
}

/// What a refusal says.
fn said(outcome: Outcome) -> String {
    match fault(outcome) {
        FileFault::Refused { reason, .. } => reason,
        other => panic!("no refusal: {other:?}"),
    }
}

/// The id of the process that answers, and how many jobs it has had.
async fn who(pool: &Pool, urgency: Urgency) -> (u32, u32) {
    let said = said(ask(pool, b"hostile:who", urgency).await);
    let (id, jobs) = said.split_once(' ').unwrap();
    (id.parse().unwrap(), jobs.parse().unwrap())
}

fn runs(process: u32) -> bool {
    PathBuf::from(format!("/proc/{process}")).exists()
}

async fn ended(process: u32) {
    let gone = async {
        while runs(process) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AGES, gone).await.unwrap();
}
