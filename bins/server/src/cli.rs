//! The command line: commands, options and the text of `--help`.

use std::{path::PathBuf, str::FromStr};

use clap::{ArgGroup, Args, Parser, Subcommand};
use domain::{Email, KeyName, Plan};
use library::Languages;
use web::{McpApp, UnknownApp};

use crate::{
    config::{Layer, ServeOptions, StoreOptions},
    decoder::{DECODER, READ_TEXT},
};

const EXAMPLES: &str = "\
Examples:
  server serve
  server import ann@example.org ~/Pictures
  server doctor";

const SERVE_EXAMPLES: &str = "\
Examples:
  server serve
  server serve --listen 0.0.0.0:8080 --base-url http://192.168.1.5:8080
  server serve --listen 0.0.0.0:443 --base-url https://photos.example.org --acme
  server serve --base-url https://photos.example.org --trusted-proxy 127.0.0.1";

const WORKER_EXAMPLES: &str = "\
Examples:
  server worker
  nice server worker --decode-workers 2";

const ACCOUNT_CREATE_EXAMPLES: &str = "\
Examples:
  server account create ann@example.org
  server account create ann@example.org --plan free --password-stdin < password.txt";

const KEY_CREATE_EXAMPLES: &str = "\
Examples:
  server key create ann@example.org --name backup-script";

const MODEL_INSTALL_EXAMPLES: &str = "\
Examples:
  server model install ViT-B-32__openai
  server model install ./ViT-B-32__openai
  server model install ViT-B-32__openai --from https://mirror.example.org";

const IMPORT_EXAMPLES: &str = "\
Examples:
  server import ann@example.org ~/Pictures
  server import ann@example.org photo.jpg holiday/ --json
  server import ann@example.org takeout-*.zip
  server import ann@example.org --watch ~/Pictures";

const FSCK_EXAMPLES: &str = "\
Examples:
  server fsck
  server fsck --checksums --json
  server fsck --repair";

const COPY_EXAMPLES: &str = "\
Examples:
  server copy --from ./data --to /mnt/new/data
  PHOTOS_DATABASE_URL=postgres://photos:password@db.example.org/photos \\
    PHOTOS_BLOB_URL=s3://bucket/prefix server copy --from ./data
  server copy --from ./data --to postgres://photos@127.0.0.1/photos,s3://bucket/prefix
  server copy --from ./data --reopen";

const EXPORT_EXAMPLES: &str = "\
Examples:
  server export ann@example.org /mnt/usb/photos
  server export ann@example.org ./photos --json";

const BACKUP_EXAMPLES: &str = "\
Examples:
  server backup /mnt/backup/photos
  server backup /mnt/backup/photos --verify
  PHOTOS_DATABASE_URL=postgres://photos:password@db.example.org/photos \\
    PHOTOS_BLOB_URL=s3://bucket/prefix PHOTOS_SECRET_FILE=secret server backup /mnt/backup/photos";

const RESTORE_EXAMPLES: &str = "\
Examples:
  server restore /mnt/backup/photos --data-dir ./data
  PHOTOS_DATABASE_URL=postgres://photos:password@db.example.org/photos \\
    PHOTOS_BLOB_URL=s3://bucket/prefix PHOTOS_SECRET_FILE=secret server restore /mnt/backup/photos";

const MCP_CONFIG_EXAMPLES: &str = "\
Examples:
  server mcp-config vscode ann@example.org --base-url https://photos.example.org
  server mcp-config cursor ann@example.org --only-snippet
  server mcp-config registry --base-url https://photos.example.org > server.json";

/// Self-hosted photo library with a REST API and an MCP server
///
/// Every option that shows `[env: …]` can be given as a flag, as an environment variable or in a TOML file (--config).
/// A flag overrides the variable, and the variable overrides the file. Empty variables are ignored.
///
/// Commands can run while servers use the same library. Their changes take effect at the next request.
///
/// Exit status: 0 on success, 1 on failure, 2 on wrong usage. Errors are printed to stderr.
#[derive(Debug, Parser)]
#[command(name = "server", version, propagate_version = true, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// TOML file with settings, named like the flags: data-dir = "/srv/photos" [env: PHOTOS_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Storage options")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// The settings given as flags.
    pub(crate) fn layer(&self) -> Layer {
        let library = match &self.command {
            Command::Library(command) => Some(command.as_ref()),
            _ => None,
        };
        let serve = match library {
            Some(
                LibraryCommand::Serve(options) | LibraryCommand::Doctor(DoctorOptions { serve: options, .. }),
            ) => options.clone(),
            Some(LibraryCommand::McpConfig(options)) => {
                ServeOptions { base_url: options.base_url.clone(), ..ServeOptions::default() }
            }
            _ => ServeOptions::default(),
        };
        Layer { store: self.store.clone(), serve }
    }
}

/// All commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Library(Box<LibraryCommand>),
    #[command(flatten)]
    Document(DocumentCommand),
    /// Decode photos that a server sends over stdin; the process sandboxes itself
    #[command(hide = true, name = DECODER)]
    Decoder(DecoderOptions),
}

/// Commands that need the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum LibraryCommand {
    /// Start the server
    ///
    /// Applies pending migrations, prints the address when it is ready, and serves until SIGTERM or SIGINT. It then
    /// stops accepting connections, finishes running requests within 10 seconds, and exits with 0.
    ///
    /// Migrations of a Postgres database are applied with --migrate only. Without it, the server does not start while one
    /// is pending.
    ///
    /// If there is no account yet, it prints a one-time link that creates the first one in a browser.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeOptions),
    /// Index photos in an extra process until SIGTERM or SIGINT
    ///
    /// Reads photos, makes renditions and extracts what searches need, like a server does in the background. Workers on
    /// several machines share the work; they need the same metadata store, blob store and vision model. On one machine, one
    /// process indexes: a worker takes precedence over `server serve`, which then only answers requests.
    ///
    /// At a signal it finishes the running photos within 10 seconds and exits with 0. Photos of a killed worker are indexed
    /// by another process.
    #[command(after_help = WORKER_EXAMPLES)]
    Worker,
    /// Apply pending database migrations and print the name of each
    ///
    /// Other commands apply pending migrations to an SQLite file, too. With a Postgres database, they fail while a migration
    /// is pending.
    Migrate(MigrateOptions),
    /// Manage accounts
    #[command(subcommand)]
    Account(AccountCommand),
    /// Manage API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Manage the key that signs access tokens
    #[command(subcommand)]
    SigningKey(SigningKeyCommand),
    /// Manage vision models, which find photos by what they show
    #[command(subcommand)]
    Model(ModelCommand),
    /// Import photos from files, folders and archives
    ///
    /// Waits until the photos are visible and can be searched. The text and the subjects in them are recognised later, in the
    /// background, by a running server or worker or the next one that starts; --wait waits for these, too. Files that are
    /// already in the library are skipped, so an import can be repeated. Failed files are listed with the reason; the others
    /// are imported, and the exit status is 1.
    ///
    /// On a terminal, a bar shows the progress; elsewhere, a line on stderr does so every 30 seconds.
    ///
    /// Exports of Google Photos (Takeout) and iCloud Photos are imported with dates, places, descriptions, favourites and
    /// albums; photos in their trash go to the trash. Name all parts of an export in one command.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportOptions),
    /// Write the photos of an account into a folder, with their metadata and albums
    ///
    /// The originals are in folders by year and month of the capture time, under their file names. Beside each is an XMP
    /// sidecar with capture time, time zone, place, description, rating and keywords, and albums.json lists the albums.
    /// `server import` reads the folder.
    ///
    /// Run again with the same folder, it compares the files and writes only what is missing or different. Deleted
    /// photos are left out; files of photos that were deleted since the last export stay. Photos whose originals are lost
    /// are listed, and the exit status is 1.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportOptions),
    /// Print how to connect an app over MCP, ready to paste
    ///
    /// The output contains no secret. The app opens a browser, where the account's owner signs in and allows access.
    #[command(after_help = MCP_CONFIG_EXAMPLES)]
    McpConfig(McpConfigOptions),
    /// Check that the metadata store and the photo files agree, and repair them
    ///
    /// Every photo file must exist with its length, every file must belong to a photo, and everything that the metadata
    /// store derives from other data must be right. It can run beside a server. --repair makes lost renditions again and
    /// computes derived data again. Originals are never deleted, and renditions that belong to no photo are handed to the
    /// regular clean-up.
    ///
    /// The exit status is 0 if nothing is wrong or everything was repaired, else 1.
    #[command(after_help = FSCK_EXAMPLES)]
    Fsck(FsckOptions),
    /// Move the library to other stores
    ///
    /// Copies all rows and files between SQLite and Postgres, and between a folder and S3, in any direction. From its start,
    /// the library in FROM refuses every change, also by a running server, and no command opens it. TO must be empty. TO can
    /// be used when the copy is complete and both sides were compared. If the command is interrupted, run it again: it
    /// continues.
    ///
    /// FROM and TO are each a data folder, or DATABASE_URL,BLOB_URL, such as
    /// postgres://user@host/database,s3://bucket/prefix. One that is left out is the configured library: give URLs with
    /// passwords as PHOTOS_DATABASE_URL, because other users of the machine can see flags.
    #[command(after_help = COPY_EXAMPLES)]
    Copy(CopyOptions),
    /// Back the library up into a folder, while servers use it
    ///
    /// Writes one consistent state of everything: accounts, keys, albums and all other rows, the photo files, and the
    /// secret. Run again with the same folder, it copies only new photo files, writes the rows anew, and deletes what the
    /// library no longer has. The previous backup stays valid until the new one is complete. Uploads in progress are not part
    /// of it.
    ///
    /// Photo files that the library has lost are listed; everything else is backed up all the same, and the exit status is 1.
    /// Keep the folder as safe as the library: it has all photos and the secret.
    #[command(after_help = BACKUP_EXAMPLES)]
    Backup(BackupOptions),
    /// Restore a backup into an empty data folder or into empty stores
    ///
    /// Checks the whole backup before it changes anything. API keys, connected apps, sessions and signed URLs stay valid,
    /// because the secret is restored, too: into the data folder, or the file that --secret-file names. Until everything is
    /// restored and compared, no command uses the library. If the command is interrupted, run it again: it continues.
    ///
    /// A backup does not depend on the stores: a library on SQLite can be restored to Postgres and S3, and the other way
    /// round.
    #[command(after_help = RESTORE_EXAMPLES)]
    Restore(RestoreOptions),
    /// Check the installation and explain how to fix problems
    ///
    /// Checks configuration, base URL, data folder and the speed of its disk, secret, stores, queues, decoders, sandbox, OCR
    /// and vision model. The exit status is 1 if a check fails. Nothing is changed. Give it the same options
    /// as `server serve`.
    Doctor(DoctorOptions),
}

/// Commands that print a document and need no library.
#[derive(Debug, Subcommand)]
pub(crate) enum DocumentCommand {
    /// Print the OpenAPI document of the REST API
    Openapi,
    /// Print the tools of each MCP endpoint as JSON
    McpTools,
    /// Print how to connect each app, as Markdown
    #[command(hide = true)]
    ConnectingMarkdown,
    /// Print the help of all commands as Markdown
    #[command(hide = true)]
    HelpMarkdown,
}

impl LibraryCommand {
    /// The account that the command names.
    pub(crate) fn email(&self) -> Option<&Email> {
        match self {
            Self::Account(
                AccountCommand::Create { email, .. }
                | AccountCommand::SetPlan { email, .. }
                | AccountCommand::SetPassword { email, .. }
                | AccountCommand::Delete { email, .. },
            )
            | Self::Key(
                KeyCommand::Create { email, .. }
                | KeyCommand::List { email }
                | KeyCommand::Revoke { email, .. },
            ) => Some(email),
            Self::Import(options) => Some(&options.email),
            Self::Export(options) => Some(&options.email),
            Self::McpConfig(options) => options.email.as_ref(),
            _ => None,
        }
    }
}

/// Options of the decoder process.
#[derive(Debug, Args)]
pub(crate) struct DecoderOptions {
    /// Run OCR in these languages: `auto`, or Tesseract names joined by +
    #[arg(long = READ_TEXT, value_name = "LANGUAGES")]
    pub(crate) read_text: Option<Languages>,
}

/// Options of `migrate`.
#[derive(Debug, Args)]
pub(crate) struct MigrateOptions {
    /// List applied and pending migrations and change nothing
    #[arg(long, conflicts_with = "revert")]
    pub(crate) status: bool,
    /// Revert the latest migration; data only it stores is lost
    #[arg(long)]
    pub(crate) revert: bool,
}

/// Commands of `account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account
    ///
    /// Generates a strong password and prints it once, unless --password-stdin is given.
    #[command(after_help = ACCOUNT_CREATE_EXAMPLES)]
    Create {
        /// Email address to sign in with
        email: Email,
        /// Plan of the account: free or paid [default: paid]
        #[arg(long, hide_default_value = true, default_value_t)]
        plan: Plan,
        #[command(flatten)]
        password: PasswordOptions,
    },
    /// List all accounts
    List,
    /// Change the plan of an account
    SetPlan {
        /// Email address of the account
        email: Email,
        /// New plan: free or paid
        plan: Plan,
    },
    /// Change the password of an account
    ///
    /// Generates a strong password and prints it once, unless --password-stdin is given.
    SetPassword {
        /// Email address of the account
        email: Email,
        #[command(flatten)]
        password: PasswordOptions,
    },
    /// Delete an account with all its photos, albums and keys
    Delete {
        /// Email address of the account
        email: Email,
        /// Confirm the deletion, which cannot be undone
        #[arg(long)]
        yes: bool,
    },
}

/// Where a new password comes from.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PasswordOptions {
    /// Read the password from the first line of stdin instead of generating one
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

/// Commands of `key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create an API key and print it once, alone on the last line
    #[command(after_help = KEY_CREATE_EXAMPLES)]
    Create {
        /// Email address of the account
        email: Email,
        /// Name of the new key, 1 to 100 characters
        #[arg(long)]
        name: KeyName,
    },
    /// List the API keys of an account, newest first
    List {
        /// Email address of the account
        email: Email,
    },
    /// Revoke an API key
    Revoke {
        /// Email address of the account
        email: Email,
        /// Name of the key
        name: KeyName,
    },
}

/// Commands of `signing-key`.
#[derive(Debug, Subcommand)]
pub(crate) enum SigningKeyCommand {
    /// Replace the signing key and print the ID of the new one
    ///
    /// A running server signs its next token with the new key. Tokens signed with the old key stay valid until they
    /// expire, after an hour at most, so apps stay connected.
    Rotate {
        /// Replace a key encrypted with a secret that is lost; its tokens become invalid at once
        #[arg(long)]
        lost_secret: bool,
    },
}

/// Commands of `model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Install a vision model by name or from a folder
    ///
    /// Downloads are checked against the checksums that the hub lists. The model is tested before it is installed, and
    /// replaces a model of the same name. A failed installation leaves nothing behind.
    #[command(after_help = MODEL_INSTALL_EXAMPLES)]
    Install {
        /// Name of a model at huggingface.co/immich-app, such as ViT-B-32__openai, or a folder with its files
        #[arg(value_name = "NAME|DIR")]
        model: String,
        /// Mirror of the hub to download from [default: value of --model-source]
        #[arg(long, value_name = "URL")]
        from: Option<String>,
    },
    /// List the installed models and their state
    List,
    /// Choose the model that search uses
    ///
    /// A running server loads it within seconds and indexes all photos again with it in the background.
    Use {
        /// Name of an installed model, or `built-in` for none
        #[arg(value_name = "NAME")]
        model: String,
    },
    /// Remove a model that is not in use
    Remove {
        /// Name of an installed model
        #[arg(value_name = "NAME")]
        model: String,
    },
}

/// What `mcp-config` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpTarget {
    /// How to connect an app.
    App(McpApp),
    /// The entry of the library in the MCP registry.
    Registry,
}

impl FromStr for McpTarget {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "registry" => Ok(Self::Registry),
            app => {
                app.parse().map(Self::App).map_err(|unknown: UnknownApp| format!("{unknown}, or registry"))
            }
        }
    }
}

/// Options of `mcp-config`.
#[derive(Debug, Args)]
pub(crate) struct McpConfigOptions {
    /// App to connect: claude, claude-desktop, claude-code, chatgpt, vscode, cursor or inspector; or `registry` for the file
    /// server.json of the MCP registry
    #[arg(value_name = "CLIENT")]
    pub(crate) target: McpTarget,
    /// Email address of the account; not needed for `registry`
    #[arg(required_if_eq_any = McpApp::ALL.map(|app| ("target", app.id())))]
    pub(crate) email: Option<Email>,
    /// Print only the text to paste
    #[arg(long)]
    pub(crate) only_snippet: bool,
    /// Public URL of the server, as given to `serve` [default: http:// and the listen address] [env: PHOTOS_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// Options of `fsck`.
#[derive(Debug, Args)]
pub(crate) struct FsckOptions {
    /// Repair what can be repaired
    #[arg(long)]
    pub(crate) repair: bool,
    /// Read every file and compare its SHA-256; reads the whole library
    #[arg(long)]
    pub(crate) checksums: bool,
    /// Maximum number of findings of each kind to list [default: 10]
    #[arg(long, value_name = "NUMBER", hide_default_value = true, default_value_t = 10)]
    pub(crate) examples: usize,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
    /// Print the result as JSON: {"ok":…,"findings":[{"verdict":"ok"|"warn"|"fail","subject":…,"message":…}]}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `copy`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").args(["from", "to", "reopen"]).required(true).multiple(true)))]
pub(crate) struct CopyOptions {
    /// Library to move: a data folder, or DATABASE_URL,BLOB_URL [default: the configured library]
    #[arg(long, value_name = "FROM")]
    pub(crate) from: Option<String>,
    /// Empty place to move it to: a data folder, or DATABASE_URL,BLOB_URL [default: the configured library]
    #[arg(long, value_name = "TO")]
    pub(crate) to: Option<String>,
    /// Complete the move although photo files are lost or damaged in FROM
    #[arg(long)]
    pub(crate) skip_lost: bool,
    /// Use the library in FROM again, although it is being moved or was moved; its copy gets no further changes
    #[arg(long, conflicts_with_all = ["to", "skip_lost"])]
    pub(crate) reopen: bool,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// Email address of the account
    pub(crate) email: Email,
    /// Folder to write to, which is created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Print the result as JSON: {"photos":n,"written":n,"bytes":n,"sidecars":n,"albums":n,"failed":[{"path":…,"error":…}]}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `backup`.
#[derive(Debug, Args)]
pub(crate) struct BackupOptions {
    /// Folder of the backup, which is created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Only check the backup in the folder: read every file and compare its SHA-256
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreOptions {
    /// Folder of the backup
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Email address of the account
    pub(crate) email: Email,
    /// Files, folders and archives (.zip, .tar, .tar.gz, .tgz) to import; folders include their subfolders
    #[arg(required_unless_present = "watch", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Import a folder, and then every file that is added or changed, until SIGTERM or SIGINT
    ///
    /// A file is imported when it has been unchanged for three seconds, and not read again after a restart. Files that vanish
    /// stay in the library, and deleted photos stay deleted. Archives are named and not imported. With --json, each event is
    /// a line.
    #[arg(long, value_name = "DIR", conflicts_with = "paths")]
    pub(crate) watch: Option<PathBuf>,
    /// Minutes between full scans of a watched folder, which find changes on network file systems [default: 10]
    #[arg(long, value_name = "MINUTES", hide_default_value = true, default_value_t = 10, requires = "watch")]
    pub(crate) rescan_minutes: u32,
    /// Wait until text and subjects are recognised, too
    #[arg(long, conflicts_with = "watch")]
    pub(crate) wait: bool,
    /// Print the result as JSON: {"imported":n,"duplicates":n,"failed":[{"path":…,"error":…}]}
    #[arg(long)]
    pub(crate) json: bool,
}
