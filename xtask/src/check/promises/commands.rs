//! Commands, flags and environment variables of `server` and `cargo xtask`.

use std::collections::{BTreeMap, BTreeSet};

/// Commands hidden from the help.
const HIDDEN: [&str; 3] = ["decode-photos", "help-markdown", "connecting-markdown"];
/// Variables that are not settings of the server.
const OTHER_VARIABLES: [&str; 5] = [
    "PHOTOS_SECRET",
    "PHOTOS_TEST_FULL",
    "PHOTOS_TEST_PGBOUNCER",
    "PHOTOS_TEST_POSTGRES",
    "PHOTOS_TEST_STACK",
];
/// Passes its arguments to other programs, so its flags are not checked.
const PASSES_ARGUMENTS_ON: &str = "bench";

type Flags = BTreeSet<String>;

/// A program's commands, each with its flags. Flags common to all commands have the empty name.
#[derive(Debug, Default)]
struct Program {
    commands: BTreeMap<String, Flags>,
}

/// Both programs, and the environment variables of the server.
#[derive(Debug)]
pub(super) struct Programs {
    server: Program,
    xtask: Program,
    variables: BTreeSet<String>,
}

impl Programs {
    /// Reads the output of `server help-markdown` and the commands of xtask.
    pub(super) fn new(manual: &str, xtask: &clap::Command) -> Self {
        let mut of_xtask = Program::default();
        of_xtask.add(xtask, "");
        let after = |text: &str| text.split(']').next().unwrap_or_default().to_owned();
        let mut variables: BTreeSet<String> = manual.split("[env: ").skip(1).map(after).collect();
        variables.extend(OTHER_VARIABLES.map(str::to_owned));
        Self { server: Program::of_manual(manual), xtask: of_xtask, variables }
    }

    /// Reports a command, flag or variable in a piece of code that does not exist.
    pub(super) fn problem(&self, code: &str) -> Option<String> {
        if let Some(variable) = variables(code).into_iter().find(|name| !self.variables.contains(*name)) {
            return Some(format!("there is no variable {variable}"));
        }
        // Cut off a shell comment.
        let code = code.split(" #").next().unwrap_or_default();
        let mut words = code.trim_start_matches("$ ").split_whitespace().peekable();
        while words.next_if(|word| word.starts_with("PHOTOS_") && word.contains('=')).is_some() {}
        let program = match words.next()? {
            "server" | "target/release/server" => &self.server,
            "cargo" if words.next() == Some("xtask") => &self.xtask,
            _ => return None,
        };
        program.problem(&words.collect::<Vec<_>>()).map(|problem| format!("`{code}`: {problem}"))
    }
}

/// The `PHOTOS_…` variables in a text.
fn variables(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_name(c));
    words.filter(|word| word.starts_with("PHOTOS_") && word.len() > "PHOTOS_".len()).collect()
}

impl Program {
    fn of_manual(manual: &str) -> Self {
        let mut program = Self::default();
        let mut command = String::new();
        for line in manual.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                let name = heading.trim_matches('`').strip_prefix("server ");
                command = name.unwrap_or_default().to_owned();
                program.commands.entry(command.clone()).or_default();
            } else if let Some(item) = line.strip_prefix("- `--") {
                let flag = item.split([' ', '`', '[']).next().unwrap_or_default();
                program.commands.entry(command.clone()).or_default().insert(flag.to_owned());
            }
        }
        program
    }

    fn add(&mut self, command: &clap::Command, name: &str) {
        let flags = command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned));
        self.commands.insert(name.to_owned(), flags.collect());
        for inner in command.get_subcommands() {
            self.add(inner, format!("{name} {}", inner.get_name()).trim());
        }
    }

    fn problem(&self, words: &[&str]) -> Option<String> {
        let is_plain =
            |word: &&&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let names: Vec<&str> =
            words.iter().take_while(is_plain).filter(|word| !word.starts_with('-')).copied().collect();
        let first = names.first()?;
        if HIDDEN.contains(first) {
            return None;
        }
        let is_group = self.commands.keys().any(|name| name.starts_with(&format!("{first} ")));
        // The second word is a command after a group such as `key`, else an argument.
        let name = if is_group { names.get(..2).unwrap_or(&names).join(" ") } else { (*first).to_owned() };
        let flags = self.commands.get(&name);
        if flags.is_none() && !(is_group && names.len() == 1) {
            return Some(format!("there is no command {name}"));
        }
        let every = self.commands.get("");
        let exists = |flag: &str| {
            ["help", "version"].contains(&flag)
                || flags.is_some_and(|flags| flags.contains(flag))
                || every.is_some_and(|flags| flags.contains(flag))
        };
        let given = words.iter().filter_map(|word| word.trim_start_matches(['[', '(']).strip_prefix("--"));
        let mut given = given.map(|flag| flag.split(['=', ']', ')', ',']).next().unwrap_or_default());
        let unknown = given.find(|flag| !flag.is_empty() && name != PASSES_ARGUMENTS_ON && !exists(flag))?;
        Some(format!("{name} has no flag --{unknown}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = "# The `server` command\n## Options of every command\n- `--data-dir <DIR>`: Folder [env: PHOTOS_DATA_DIR]\n\
        ## `server serve`\n- `--listen <ADDR>`: Where [env: PHOTOS_LISTEN]\n- `--acme[=<SWITCH>]`: TLS\n## `server key create`\n- `--name <NAME>`: Name\n";

    #[test]
    fn unknown_commands_flags_and_variables_are_reported() {
        let xtask = clap::Command::new("xtask")
            .subcommand(clap::Command::new("demo").arg(clap::Arg::new("once").long("once")))
            .subcommand(clap::Command::new("bench"));
        let programs = Programs::new(MANUAL, &xtask);
        for fine in [
            "server",
            "server serve --listen [::]:80 --data-dir /srv",
            "server serve --acme",
            "server serve --acme=off",
            "PHOTOS_LISTEN=x server serve   # --not a flag",
            "server key create EMAIL --name NAME",
            "server key",
            "server decode-photos",
            "cargo xtask demo [PHOTO_DIR] [--once]",
            "cargo xtask bench mcp [--rounds N]",
            "cargo build -p server",
            "PHOTOS_",
            "git clone --depth 1",
        ] {
            assert_eq!(programs.problem(fine), None, "{fine}");
        }
        for (wrong, expect) in [
            ("server serv", "there is no command serv"),
            ("server serve --port 80", "serve has no flag --port"),
            ("server key make", "there is no command key make"),
            ("server serve --name=x", "serve has no flag --name"),
            ("cargo xtask show", "there is no command show"),
            ("cargo xtask demo --twice", "demo has no flag --twice"),
            ("PHOTOS_LISTENS=1", "there is no variable PHOTOS_LISTENS"),
        ] {
            let problem = programs.problem(wrong).unwrap_or_default();
            assert!(problem.contains(expect), "{wrong}: {problem}");
        }
    }
}
