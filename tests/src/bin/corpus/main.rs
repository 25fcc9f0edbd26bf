//! Imports a folder of real files and checks every outcome and every rendition.
//!
//! Prints a table with a row for each sub-folder, then why files were refused. Exits with 1 when a file has no
//! outcome or a rendition is not what it must be.

mod check;
mod files;
mod report;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use domain::{Email, Plan};
use library::{Caller, Settings};

type AnyError = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<ExitCode, AnyError> {
    let Some(root) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err("usage: corpus DIR".into());
    };
    let served = check::Served::start(Settings::default()).await?;
    let email = Email::parse("corpus@example.org")?;
    let (account, _) =
        served.library.create_account(email.clone(), Plan::Paid, Some("corpus".into())).await?;
    let indexing = served.library.start_indexing()?;

    let started = Instant::now();
    let mut table = report::Table::default();
    for folder in files::folders(&root)? {
        let (name, paths) = (folder.name.clone(), folder.paths.clone());
        let imported = served.library.import_folder(account.id, &paths, |_| {}).await;
        table.add(&name, &folder, imported);
    }
    let import_time = started.elapsed();
    indexing.stop().await;

    let account = served.library.account(&email).await?;
    let checked = served.check_images(&Caller::of(account)).await?;
    let blobs = served.check_blobs().await?;
    table.print(&root);
    println!();
    println!(
        "imported in {:.1} s; {} images, {} renditions checked, {} blobs",
        import_time.as_secs_f64(),
        checked.images,
        checked.renditions,
        blobs.count
    );
    let faults: Vec<String> = table.faults().into_iter().chain(checked.faults).chain(blobs.faults).collect();
    for fault in &faults {
        println!("FAULT {fault}");
    }
    served.stop().await;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
