//! Measures photo sync: uploads by rclone beside `rclone serve webdav` on the same disk, listings of a large folder,
//! and the API during uploads.
//!
//! A round uploads real-size photos to an empty library, with rclone's default of four files at once. Then rclone
//! uploads the same photos to itself. Our server hashes and indexes them, and responds only when they would survive a loss
//! of power. rclone only writes them to files.

mod rclone;
mod responses;
mod uploads;

use ::tests::black_box::AnyError;
use clap::Args;

pub(crate) use uploads::photo;

use rclone::Rclone;
use responses::Responses;
use uploads::{UploadPhotos, UploadTable};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Number of photos that a round uploads
    #[arg(long, default_value_t = 1000)]
    photos: u32,
    /// Number of rounds
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Number of files in the listed folder
    #[arg(long, default_value_t = 10_000)]
    entries: u32,
    /// Do not measure rclone serve webdav
    #[arg(long)]
    without_peer: bool,
}

pub(crate) async fn run(options: &Options) -> Result<(), AnyError> {
    upload(options)?;
    println!("\nfilling a folder with {} photos", options.entries);
    let responses = Responses::prepare(options.entries).await?;
    responses.listings().await?;
    responses.api().await
}

fn upload(options: &Options) -> Result<(), AnyError> {
    if options.rounds == 0 {
        return Ok(());
    }
    let rclone = Rclone::install()?;
    let photos = UploadPhotos::make(options.photos)?;
    println!(
        "\nupload of {} photos, {:.0} MB, by rclone {}, {} at once",
        photos.count(),
        photos.megabytes(),
        rclone::VERSION,
        rclone::TRANSFERS
    );
    println!("{}", crate::machine());
    let mut table = UploadTable::new();
    for round in 1..=options.rounds {
        uploads::to_ours(&rclone, &photos, round, &mut table)?;
        if !options.without_peer {
            uploads::to_peer(&rclone, &photos, round, &mut table)?;
        }
    }
    table.print_medians();
    Ok(())
}
