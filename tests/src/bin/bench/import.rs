use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    AnyError,
    api::megabytes,
    process::{Usage, server_executable, usage},
};

/// Imports a folder with the command line, as a newcomer does, and measures the process.
pub(crate) async fn run(dir: &Path) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let server = server_executable()?;
    let data_dir = folder.path().to_owned();
    let created = Command::new(&server)
        .args(["account", "create", "bench@example.org", "--data-dir"])
        .arg(&data_dir)
        .stdout(Stdio::null())
        .status()?;
    if !created.success() {
        return Err("no account could be made".into());
    }
    let started = Instant::now();
    let child = Command::new(&server)
        .args(["import", "bench@example.org", "--json"])
        .arg(dir)
        .arg("--data-dir")
        .arg(&data_dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = child.id();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let mut used = Usage::default();
    while !output.is_finished() {
        used = usage(pid).unwrap_or(used);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let elapsed = started.elapsed().as_secs_f64();
    let report: Value = serde_json::from_slice(&output.await??.stdout)?;
    let imported = report["imported"].as_u64().unwrap_or(0);
    let photos = f64::from(u32::try_from(imported.max(1))?);
    println!("\nimport of {} ({imported} photos)", dir.display());
    println!("{:.1} photos/s to searchable and displayable (medium and thumb)", photos / elapsed);
    println!(
        "{:.3} CPU s per photo, peak memory {:.0} MB",
        used.cpu.as_secs_f64() / photos,
        megabytes(used.peak_bytes)
    );
    Ok(())
}
