//! The manual: the help of all commands as Markdown, kept in `docs/cli.md`.

use clap::{Arg, Command, CommandFactory as _};

use crate::cli::Cli;

/// Renders the manual. The output does not depend on the width of the terminal.
pub(super) fn markdown() -> String {
    let mut root = Cli::command();
    root.build();
    let mut text = String::from("# The `server` command\n");
    push_about(&root, &mut text);
    push_usage(&mut root, &mut text);
    push_examples(&root, &mut text);
    let global: Vec<&Arg> = root.get_arguments().filter(|argument| argument.is_global_set()).collect();
    text.push_str("\n## Global options\n");
    push_arguments(&global, &mut text);
    push_subcommands(&mut root, &mut text);
    text
}

fn push_subcommands(parent: &mut Command, text: &mut String) {
    for command in parent.get_subcommands_mut() {
        if command.is_hide_set() || command.get_name() == "help" {
            continue;
        }
        if command.has_subcommands() {
            push_subcommands(command, text);
            continue;
        }
        let name = command.get_bin_name().unwrap_or(command.get_name());
        text.push_str(&format!("\n## `{name}`\n"));
        push_about(command, text);
        push_usage(command, text);
        let is_own = |argument: &&Arg| !argument.is_global_set() && !is_built_in(argument);
        push_arguments(&command.get_arguments().filter(is_own).collect::<Vec<_>>(), text);
        push_examples(command, text);
    }
}

/// The summary with a full stop, then the further paragraphs.
fn push_about(command: &Command, text: &mut String) {
    let summary = command.get_about().map(|about| format!("{about}.")).unwrap_or_default();
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let details = long.split_once("\n\n").map(|(_, details)| format!("\n{details}\n")).unwrap_or_default();
    text.push_str(&format!("\n{summary}\n{details}"));
}

fn push_usage(command: &mut Command, text: &mut String) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    text.push_str(&format!("\n```\n{usage}\n```\n"));
}

fn push_examples(command: &Command, text: &mut String) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let Some((title, examples)) = help.split_once('\n') else { return };
    let lines: String = examples.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    text.push_str(&format!("\n{title}\n\n```sh\n{lines}```\n"));
}

/// A list of the arguments. Arguments with a heading follow in a section per heading.
fn push_arguments(arguments: &[&Arg], text: &mut String) {
    let mut heading = None;
    for (index, argument) in arguments.iter().enumerate() {
        if argument.get_help_heading() != heading {
            heading = argument.get_help_heading();
            text.push_str(&format!("\n### {}\n\n", heading.unwrap_or("Options")));
        } else if index == 0 {
            text.push('\n');
        }
        text.push_str(&item(argument));
    }
}

fn item(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = match values.first() {
        Some(value) if argument.get_action().takes_values() => format!("<{value}>"),
        _ => String::new(),
    };
    let name = match argument.get_long() {
        // The value is optional. If it is given, it follows the `=` directly.
        Some(long) if argument.is_require_equals_set() => format!("--{long}[={value}]"),
        Some(long) => format!("--{long} {value}"),
        None => value,
    };
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let long = argument.get_long_help().map(ToString::to_string).unwrap_or_default();
    let details = long.split_once("\n\n").map(|(_, details)| format!("  {details}\n")).unwrap_or_default();
    format!("- `{}`: {}\n{details}", name.trim(), help.replace('\n', " "))
}

/// `--help` and `--version`, which need no explanation.
fn is_built_in(argument: &Arg) -> bool {
    matches!(argument.get_id().as_str(), "help" | "version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_listed_with_its_flags() {
        Cli::command().debug_assert();
        let text = markdown();
        for line in [
            "## `server serve`",
            "## `server account create`",
            "server account create [OPTIONS] <EMAIL>",
            "- `--data-dir <DIR>`: Data folder: database, photos, secret and models [default: ./data] \
             [env: PHOTOS_DATA_DIR]\n  Created by `serve`, and by `copy` for the new place. With Postgres, every command creates it.\n",
            "\n### Search options\n\n- `--search-memory-mb <MIB>`: ",
            "```sh\nserver key create ann@example.org --name backup-script\n```\n",
            "- `--password-stdin`: ",
            "- `--acme[=<SWITCH>]`: ",
            "- `<EMAIL>`: Email address of the account",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        // `doctor` takes the options of `serve`.
        for (flag, times) in [("--data-dir", 1), ("--listen", 2), ("--status", 1)] {
            assert_eq!(text.matches(&format!("- `{flag}")).count(), times, "{flag}\n{text}");
        }
        assert!(
            !text.contains("help-markdown") && text.ends_with('\n') && !text.contains("\n\n\n"),
            "{text}"
        );
    }
}
