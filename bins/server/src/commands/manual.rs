use clap::{Arg, Command, CommandFactory as _};

use crate::cli::Cli;

/// The help of all commands as Markdown. It does not depend on the width of any terminal.
pub(super) fn markdown() -> String {
    let mut root = Cli::command();
    root.build();
    let mut text = String::from("# The `server` command\n");
    about(&root, &mut text);
    usage(&mut root, &mut text);
    let shared = |argument: &&Arg| argument.is_global_set();
    arguments("Options of every command", root.get_arguments().filter(shared), &mut text);
    subcommands(&mut root, &mut text);
    text
}

fn subcommands(parent: &mut Command, text: &mut String) {
    for command in parent.get_subcommands_mut() {
        if command.is_hide_set() || command.get_name() == "help" {
            continue;
        }
        if command.has_subcommands() {
            subcommands(command, text);
            continue;
        }
        let name = command.get_bin_name().unwrap_or(command.get_name());
        text.push_str(&format!("\n## `{name}`\n"));
        about(command, text);
        usage(command, text);
        let own = |argument: &&Arg| !argument.is_global_set() && !is_built_in(argument);
        arguments("", command.get_arguments().filter(own), text);
    }
}

/// The summary, ended with a full stop, and whatever more there is to say.
fn about(command: &Command, text: &mut String) {
    let short = command.get_about().map(|about| format!("{about}.")).unwrap_or_default();
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let more = long.split_once("\n\n").map(|(_, more)| format!("\n{more}\n")).unwrap_or_default();
    text.push_str(&format!("\n{short}\n{more}"));
}

fn usage(command: &mut Command, text: &mut String) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    text.push_str(&format!("\n```\n{usage}\n```\n"));
}

fn arguments<'a>(title: &str, arguments: impl Iterator<Item = &'a Arg>, text: &mut String) {
    let items: Vec<String> = arguments.map(item).collect();
    if items.is_empty() {
        return;
    }
    if !title.is_empty() {
        text.push_str(&format!("\n## {title}\n"));
    }
    text.push_str(&format!("\n{}", items.concat()));
}

fn item(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = match values.first() {
        Some(value) if argument.get_action().takes_values() => format!("<{value}>"),
        _ => String::new(),
    };
    let name = match argument.get_long() {
        Some(long) => format!("--{long} {value}"),
        None => value,
    };
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    format!("- `{}`: {}\n", name.trim(), help.replace('\n', " "))
}

/// `--help` and `--version`, which need no explanation.
fn is_built_in(argument: &Arg) -> bool {
    matches!(argument.get_id().as_str(), "help" | "version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_flag_is_there_once() {
        Cli::command().debug_assert();
        let text = markdown();
        for line in [
            "## `server serve`",
            "## `server account create`",
            "server account create [OPTIONS] <EMAIL>",
            "- `--data-dir <DIR>`: Folder of the store, the blobs and the secret file; `serve` creates it [default: ./data] \
             [env: PHOTOS_DATA_DIR]",
            "- `--password-stdin`: ",
            "- `<EMAIL>`: The account's address",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        for flag in ["--data-dir", "--listen", "--status"] {
            assert_eq!(text.matches(&format!("- `{flag}")).count(), 1, "{flag}\n{text}");
        }
        assert!(
            !text.contains("help-markdown") && text.ends_with('\n') && !text.contains("\n\n\n"),
            "{text}"
        );
    }
}
