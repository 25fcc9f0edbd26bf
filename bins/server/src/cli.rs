//! The command line: what can be typed, and the text of `--help`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use domain::{Email, KeyName, Plan};
use library::Languages;
use web::McpApp;

use crate::config::{ServeOptions, StoreOptions};

/// A self-hosted photo library: one program that serves it and administers it
///
/// Every setting can be given as a flag, as an environment variable (`PHOTOS_` and the flag's name) or in a TOML
/// file, and they count in this order. An empty variable counts as absent. Commands that administer a library work
/// while a server is running on it, and take effect in it at its next request. They exit with 0 when all went
/// well, 1 when something failed, 2 when they were used wrongly; errors go to stderr.
#[derive(Debug, Parser)]
#[command(name = "server", version, propagate_version = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) store: StoreOptions,
    /// TOML file of settings, named as the flags are: `data-dir = "/srv/photos"` [env: PHOTOS_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Store options")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command that makes this program a worker of itself.
pub(crate) const DECODER: &str = "decode-photos";
/// Its flag that has it read words.
pub(crate) const READ_TEXT: &str = "read-text";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the library over HTTP
    ///
    /// Brings the store's tables up to date, prints the address when ready to answer, and serves until SIGTERM or
    /// SIGINT; then takes no new connections, finishes what runs for at most 10 seconds, and exits with 0.
    Serve(ServeOptions),
    /// Bring the store's tables up to date and print the name of each migration that was applied
    Migrate(MigrateOptions),
    /// Create, list, change and delete accounts
    #[command(subcommand)]
    Account(AccountCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Replace the key that access tokens are signed with
    #[command(subcommand)]
    SigningKey(SigningKeyCommand),
    /// Install, list, choose and remove vision models, by which photos are found by what they show
    #[command(subcommand)]
    Model(ModelCommand),
    /// Import photos and folders of photos, and wait until they are indexed
    ///
    /// A second run skips what is in the library already. Files that fail are named with their reason, and the
    /// others are imported all the same; the exit code is 1 then.
    Import(ImportOptions),
    /// Print how an app is connected to the library, ready to paste
    ///
    /// Nothing secret is in it: the app opens a browser in which the account's owner signs in and allows it.
    McpConfig(McpConfigOptions),
    /// Check configuration, stores and keys, and say what is missing and how to mend it
    Doctor,
    /// Print the OpenAPI document of the HTTP API
    Openapi,
    /// Print the tools of each MCP endpoint as JSON
    McpTools,
    /// Print how every app is connected, as Markdown
    #[command(hide = true)]
    ConnectingMarkdown,
    /// Decode photos that a server sends: its worker, which limits itself to what that takes
    #[command(hide = true, name = DECODER)]
    Decoder(DecoderOptions),
    /// Print this help, of all commands, as Markdown
    #[command(hide = true)]
    HelpMarkdown,
}

impl Command {
    /// The account that it is about.
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
            Self::McpConfig(options) => Some(&options.email),
            _ => None,
        }
    }
}

/// What the worker does beside decoding.
#[derive(Debug, Args)]
pub(crate) struct DecoderOptions {
    /// Read words, too, in these languages: `auto`, or names with + in between
    #[arg(long = READ_TEXT, value_name = "LANGUAGES")]
    pub(crate) read_text: Option<Languages>,
}

/// What `migrate` does.
#[derive(Debug, Args)]
pub(crate) struct MigrateOptions {
    /// Change nothing; list the migrations that were applied and those that are pending
    #[arg(long, conflicts_with = "revert")]
    pub(crate) status: bool,
    /// Revert the latest migration; data only it stores is lost
    #[arg(long)]
    pub(crate) revert: bool,
}

/// What `account` does.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account
    Create {
        /// What its owner signs in with
        email: Email,
        /// What it pays for: `free` or `paid` [default: paid]
        #[arg(long, hide_default_value = true, default_value_t)]
        plan: Plan,
        #[command(flatten)]
        password: PasswordOptions,
    },
    /// List all accounts
    List,
    /// Change what an account pays for
    SetPlan {
        /// The account's address
        email: Email,
        /// `free` or `paid`
        plan: Plan,
    },
    /// Change an account's password
    SetPassword {
        /// The account's address
        email: Email,
        #[command(flatten)]
        password: PasswordOptions,
    },
    /// Delete an account with all its photos, albums and keys
    Delete {
        /// The account's address
        email: Email,
        /// Confirm that everything in the account is to be lost
        #[arg(long)]
        yes: bool,
    },
}

/// Where a password comes from.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PasswordOptions {
    /// Read the password from the first line of stdin, instead of making a strong one and printing it
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

/// What `key` does.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create an API key and print it, once, alone on the last line
    Create {
        /// The account's address
        email: Email,
        /// What to call the key: 1 to 100 characters
        #[arg(long)]
        name: KeyName,
    },
    /// List an account's API keys, newest first
    List {
        /// The account's address
        email: Email,
    },
    /// Revoke an API key
    Revoke {
        /// The account's address
        email: Email,
        /// What the key is called
        name: KeyName,
    },
}

/// What `signing-key` does.
#[derive(Debug, Subcommand)]
pub(crate) enum SigningKeyCommand {
    /// Sign access tokens with a new key from now on, and print its name
    ///
    /// A running server takes it up with the next token. Tokens that the old key signed work until they expire, an
    /// hour at most, so that nobody has to sign in again.
    Rotate {
        /// The secret was changed for good: replace a key that it cannot open, whose tokens nobody can read any more
        #[arg(long)]
        lost_secret: bool,
    },
}

/// What `model` does.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Install a model, by its name or from a folder
    ///
    /// Every file that is downloaded is checked against the checksum that the hub lists. The model is tried out before
    /// it is installed; what does not work leaves nothing behind. A model of the same name is replaced.
    Install {
        /// A name at huggingface.co/immich-app, such as ViT-B-32__openai, or a folder with the files of such a model
        #[arg(value_name = "NAME|DIR")]
        model: String,
        /// Mirror to download from instead, with the addresses of the hub [default: --model-source]
        #[arg(long, value_name = "URL")]
        from: Option<String>,
    },
    /// List the installed models, and what is wrong with those that do not work
    List,
    /// Choose the model that sees pictures
    ///
    /// A running server takes it up by itself, and looks at all photos again in the background.
    Use {
        /// An installed model, or `built-in` for none
        #[arg(value_name = "NAME")]
        model: String,
    },
    /// Remove a model that is not in use
    Remove {
        /// An installed model
        #[arg(value_name = "NAME")]
        model: String,
    },
}

/// What `mcp-config` does.
#[derive(Debug, Args)]
pub(crate) struct McpConfigOptions {
    /// The app: `claude`, `claude-desktop`, `claude-code`, `chatgpt`, `vscode`, `cursor` or `inspector`
    #[arg(value_name = "CLIENT")]
    pub(crate) app: McpApp,
    /// The account's address
    pub(crate) email: Email,
    /// Print only what is to be pasted
    #[arg(long)]
    pub(crate) only_snippet: bool,
    /// Where the library's users reach it, as given to `serve` [default: http:// and the address that `serve`
    /// listens on] [env: PHOTOS_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// What `import` does.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The account's address
    pub(crate) email: Email,
    /// Files and folders; folders are imported with all that they hold
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print {"imported":n,"duplicates":n,"failed":[{"path":…,"error":…}]}
    #[arg(long)]
    pub(crate) json: bool,
}
