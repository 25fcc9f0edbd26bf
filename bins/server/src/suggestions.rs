//! Suggestions for commands that do not exist. clap suggests commands that are spelled alike; these are the words of other programs.

use std::ffi::OsString;

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// Words of other programs, and the commands that do the same.
const SYNONYMS: [(&[&str], &[&str]); 13] = [
    (&["start", "run", "up", "daemon", "setup", "init"], &["serve"]),
    (&["user", "users", "login"], &["account"]),
    (&["token", "tokens", "api-key", "apikey"], &["key"]),
    (&["upload", "scan", "index", "sync", "load"], &["import"]),
    (&["check", "verify", "health", "status", "diagnose", "test"], &["doctor", "fsck"]),
    (&["repair", "fix"], &["fsck"]),
    (&["upgrade", "update", "db", "database"], &["migrate"]),
    (&["dump", "save", "download"], &["export", "backup", "install"]),
    (&["move", "mv", "transfer"], &["copy"]),
    (&["add", "new", "make", "register"], &["create", "install", "import"]),
    (&["rm", "remove", "del", "delete", "drop", "uninstall"], &["delete", "revoke", "remove"]),
    (&["ls", "show", "all"], &["list"]),
    (&["passwd", "password", "reset-password", "change-password"], &["set-password"]),
];

/// Suggests the commands that mean the same as the unknown one. They replace the suggestions that are only spelled alike.
pub(crate) fn add(error: &mut Error, program: &Command, arguments: impl Iterator<Item = OsString>) {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else { return };
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let means = |(words, _): &&(&[&str], &[&str])| words.contains(&unknown.as_str());
    let same: Vec<&str> = SYNONYMS.iter().filter(means).flat_map(|(_, same)| same.iter().copied()).collect();
    let mut words = arguments.filter_map(|argument| argument.into_string().ok());
    // The innermost command before the unknown word.
    let mut command = program;
    for word in words.by_ref().take_while(|word| word != unknown) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let mut found: Vec<String> = Vec::new();
    if std::ptr::eq(command, program) {
        found = in_a_later_command(program, unknown, &same, words);
    }
    if found.is_empty() {
        let known = same.into_iter().filter(|name| command.find_subcommand(name).is_some());
        found = known.map(str::to_owned).collect();
    }
    if !found.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(found));
    }
}

/// The commands that are meant by words in the wrong order: `account delete` for `delete account`.
fn in_a_later_command(
    program: &Command,
    unknown: &str,
    same: &[&str],
    later: impl Iterator<Item = String>,
) -> Vec<String> {
    let mut named = later.filter_map(|word| program.find_subcommand(word));
    let found = named.find_map(|command| {
        let is_meant = |name: &str| name == unknown || same.contains(&name);
        let meant = command.get_subcommands().map(Command::get_name).filter(|name| is_meant(name));
        let found: Vec<String> = meant.map(|name| format!("{} {name}", command.get_name())).collect();
        (!found.is_empty()).then_some(found)
    });
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;

    fn message(arguments: &[&str]) -> String {
        let arguments: Vec<OsString> =
            ["server"].iter().chain(arguments).map(|argument| OsString::from(*argument)).collect();
        let mut error = Cli::try_parse_from(&arguments).unwrap_err();
        add(&mut error, &Cli::command(), arguments.into_iter().skip(1));
        error.to_string()
    }

    #[test]
    fn wrong_commands_and_flags_have_a_suggestion() {
        for (arguments, expected) in [
            (&["serv"][..], "'serve'"),
            (&["imprt", "ann@example.org"], "'import'"),
            (&["acount", "list"], "'account'"),
            (&["account", "craete"], "'create'"),
            (&["start"], "'serve'"),
            (&["users", "list"], "'account'"),
            (&["account", "add", "ann@example.org"], "'create'"),
            (&["key", "delete", "ann@example.org", "phone"], "'revoke'"),
            (&["account", "passwd", "ann@example.org"], "'set-password'"),
            (&["model", "download", "x"], "'install'"),
            (&["delete", "account", "a@b"], "'account delete'"),
            (&["add", "account", "a@b"], "'account create'"),
            (&["remove", "key"], "'key revoke'"),
            (&["add", "a@b", "photos"], "'import'"),
            (&["check"], "'doctor'"),
            (&["serve", "--lisen", "127.0.0.1:1"], "'--listen'"),
            (&["serve", "--base-ulr", "x"], "'--base-url'"),
            (&["import", "ann@example.org", ".", "--jsno"], "'--json'"),
            (&["--datadir", "x", "serve"], "'--data-dir'"),
        ] {
            let message = message(arguments);
            assert!(message.contains("tip: ") && message.contains(expected), "{arguments:?}: {message}");
        }
    }

    #[test]
    fn every_synonym_leads_to_a_command() {
        let program = Cli::command();
        let mut names: Vec<&str> = Vec::new();
        for command in program.get_subcommands() {
            names.push(command.get_name());
            names.extend(command.get_subcommands().map(Command::get_name));
        }
        for (words, same) in SYNONYMS {
            assert!(same.iter().all(|name| names.contains(name)), "{words:?}");
        }
    }
}
