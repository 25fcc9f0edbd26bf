//! `restore`: puts a backup into empty stores.

use std::{fs, io, path::PathBuf};

use library::{Clock as _, SystemClock};
use library_backup::{Place, RestoreOptions as Plan, RestoreReport, VerifiedBackup, begin_restore, verify};
use serde::Serialize;

use super::{
    CommandError, Report,
    backup::{FILES_AT_ONCE, JsonContent, content},
    copy,
};
use crate::{
    cli::RestoreOptions,
    config::{Config, SecretSource},
    io_messages, shutdown,
    stores::{self, IfMissing},
};

/// Why a backup was not restored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RestoreFailure {
    #[error(
        "{} has another secret than the backup; remove it if nothing uses it, so that the secret of the backup is restored",
        .0.display()
    )]
    OtherSecretFile(PathBuf),
    #[error(
        "PHOTOS_SECRET is not the secret of the backup; give that secret, or name a new file with --secret-file, where it \
         is restored"
    )]
    OtherSecret,
    #[error("name a new file with --secret-file, where the secret of the backup is restored")]
    NoSecretFile,
    #[error("{} has other files, such as {name}; choose an empty folder for the library", folder.display())]
    OtherFiles { folder: PathBuf, name: String },
    #[error("{}", io_messages::io_advice(path, source))]
    Folder { path: PathBuf, source: io::Error },
    #[error("{}", io_messages::io_advice(path, source))]
    Secret { path: PathBuf, source: io::Error },
    #[error("interrupted; the library is not usable yet. Run the command again to continue")]
    Interrupted,
}

pub(super) async fn run(options: &RestoreOptions, config: &Config) -> Result<Report, CommandError> {
    let shutdown = shutdown::signal().map_err(CommandError::Signals)?;
    let bar = copy::progress_bar();
    let running = async {
        // Checked first, before the whole backup is read.
        stores::require_apart(config, &options.folder)?;
        check_folder(config)?;
        let backup = verify(&options.folder, FILES_AT_ONCE, |progress| copy::update(&bar, progress)).await?;
        let secret = SecretTarget::new(config, &backup)?;
        let store = stores::open_store(config, IfMissing::CreateAll).await?;
        let name = copy::name(config);
        copy::create_schema(&store, &name).await?;
        let place = Place { store, blobs: copy::open_blobs(config).await?, name };
        let plan = Plan::new(SystemClock.now());
        let Some(begun) = begin_restore(&backup, &place, &plan).await? else {
            return Ok(format!("This backup was restored to {} before.\n", place.name).into());
        };
        // Done before the restore is complete, because a server that starts without the file makes another secret.
        secret.write(&backup)?;
        let report = begun.complete(|progress| copy::update(&bar, progress)).await?;
        let text =
            if options.json { json(&backup, &report)? } else { summary(&backup, &report, &place.name) };
        Ok(text.into())
    };
    let report = tokio::select! {
        report = running => report,
        () = shutdown => Err(RestoreFailure::Interrupted.into()),
    };
    bar.finish_and_clear();
    report
}

/// Refuses a data folder that has files but no library, such as a folder of photos.
fn check_folder(config: &Config) -> Result<(), RestoreFailure> {
    // These files may exist before the library: an administrator or the file system creates them.
    const OTHERS: [&str; 3] = ["secret", "models", "lost+found"];
    let folder = io_messages::absolute(&config.data_dir);
    if config
        .database
        .file()
        .is_none_or(|database| !database.starts_with(&config.data_dir) || database.exists())
    {
        return Ok(());
    }
    let failed = |source| RestoreFailure::Folder { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && !OTHERS.contains(&name.as_str()) {
            return Err(RestoreFailure::OtherFiles { folder, name });
        }
    }
    Ok(())
}

/// What happens to the secret, without which keys, tokens and URLs are invalid.
enum SecretTarget {
    /// The place has the secret already.
    Present,
    /// It is written to a new file.
    File(PathBuf),
}

impl SecretTarget {
    fn new(config: &Config, backup: &VerifiedBackup) -> Result<Self, RestoreFailure> {
        let restored = backup.secret().trim_ascii();
        match &config.secret {
            SecretSource::Environment(secret) if secret.expose() == restored => Ok(Self::Present),
            SecretSource::Environment(_) => Err(RestoreFailure::OtherSecret),
            SecretSource::Missing => Err(RestoreFailure::NoSecretFile),
            SecretSource::File(path) | SecretSource::ExistingFile(path) => match fs::read(path) {
                Ok(present) if present.trim_ascii() == restored => Ok(Self::Present),
                Ok(_) => Err(RestoreFailure::OtherSecretFile(io_messages::absolute(path))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::File(path.clone())),
                Err(source) => Err(RestoreFailure::Secret { path: io_messages::absolute(path), source }),
            },
        }
    }

    fn write(&self, backup: &VerifiedBackup) -> Result<(), RestoreFailure> {
        let Self::File(path) = self else { return Ok(()) };
        let mut text = backup.secret().to_owned();
        text.push(b'\n');
        copy::write_secret(path, &text)
            .map_err(|source| RestoreFailure::Secret { path: io_messages::absolute(path), source })
    }
}

fn summary(backup: &VerifiedBackup, report: &RestoreReport, name: &str) -> String {
    let manifest = backup.manifest();
    let mut text = format!("restored to {name}: {}; the state of {}\n", content(manifest), manifest.taken_at);
    if report.lost > 0 {
        text.push_str(&format!(
            "{} photo files were lost before the backup; `server fsck --repair` lists them and makes renditions again\n",
            report.lost
        ));
    }
    text.push_str(
        "Installed vision models are not part of a backup; `server model install` installs them again.\n",
    );
    text
}

#[derive(Serialize)]
struct JsonReport<'a> {
    #[serde(flatten)]
    content: JsonContent<'a>,
    copied: u64,
    lost: u64,
}

fn json(backup: &VerifiedBackup, report: &RestoreReport) -> Result<String, serde_json::Error> {
    let content = JsonContent::new(backup.manifest());
    Ok(serde_json::to_string(&JsonReport { content, copied: report.copied, lost: report.lost })? + "\n")
}
