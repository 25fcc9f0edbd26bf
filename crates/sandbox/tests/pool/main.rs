//! Tests the pool with real worker processes: correct ones, and malicious ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod analysis;
mod confinement;
mod decoding;
mod faults;
mod ocr;
mod scheduling;
mod views;

use std::{convert::Infallible, path::PathBuf, time::Duration};

use bytes::Bytes;
use domain::{FileInfo, Timestamp};
use sandbox::{
    DecodeError, DecodeTask, DecodedPhoto, FileFault, Pool, PoolOptions, RequestedRenditions, Urgency,
    WorkerCommand,
};

/// A time-out that is never reached, on any machine, unless a test fails.
const LONG_TIMEOUT: Duration = Duration::from_secs(600);

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
        wall_limit: LONG_TIMEOUT,
        cpu_limit: LONG_TIMEOUT,
        idle_limit: LONG_TIMEOUT,
        ..PoolOptions::new(worker("decoder", &[]))
    }
}

/// Workers that misbehave in the way that a file names; see the example `hostile_decoder`.
fn hostile() -> PoolOptions {
    PoolOptions { command: worker("hostile_decoder", &[]), ..honest() }
}

fn task() -> DecodeTask {
    let added = Timestamp::parse_iso("2024-05-01").unwrap();
    let info = FileInfo { name: Some("wisteria.jpg".into()), ..FileInfo::added_at(added) };
    DecodeTask { renditions: RequestedRenditions::Displayable, read_metadata: Some(info) }
}

async fn decode(pool: &Pool, file: &[u8], urgency: Urgency) -> Outcome {
    pool.decode(&Bytes::copy_from_slice(file), &task(), urgency).await
}

/// Makes a hostile worker misbehave.
async fn misbehave(pool: &Pool, misbehaviour: &str) -> Outcome {
    decode(pool, format!("hostile:{misbehaviour}").as_bytes(), Urgency::Background).await
}

fn fault(outcome: Outcome) -> FileFault {
    match outcome {
        Err(DecodeError::File(fault)) => fault,
        other => panic!("not a fault of the file: {other:?}"),
    }
}

fn refusal_reason(outcome: Outcome) -> String {
    match fault(outcome) {
        FileFault::Refused { reason, .. } => reason,
        other => panic!("not a refusal: {other:?}"),
    }
}

/// The process id of the worker that responds, and how many jobs it has done.
async fn identify(pool: &Pool, urgency: Urgency) -> (u32, u32) {
    let reason = refusal_reason(decode(pool, b"hostile:who", urgency).await);
    let (id, jobs) = reason.split_once(' ').unwrap();
    (id.parse().unwrap(), jobs.parse().unwrap())
}

fn is_running(process: u32) -> bool {
    PathBuf::from(format!("/proc/{process}")).exists()
}

async fn wait_for_exit(process: u32) {
    let gone = async {
        while is_running(process) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, gone).await.unwrap();
}
