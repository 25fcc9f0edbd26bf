//! Runs the examples against each other.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An example, which Cargo builds into a folder beside that of the tests.
fn example(name: &str) -> Command {
    let test = env::current_exe().unwrap();
    let folder: PathBuf = test.parent().unwrap().with_file_name("examples");
    let mut command = Command::new(folder.join(name).with_extension(env::consts::EXE_EXTENSION));
    command.env("NO_PROXY", "127.0.0.1");
    command
}

#[test]
fn the_client_calls_the_tool_of_the_server() {
    let server = example("mcp_server").arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().unwrap();
    let mut server = Running(server);
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let call = |arguments: &[&str]| {
        let output = example("mcp_client").args([url.trim(), "token"]).args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(call(&["greet", r#"{"name":"Ada"}"#]), (true, "{\"text\":\"Hello, Ada!\"}\n".to_owned()));
    let missing = "name: is required. Correct this argument and call the tool again.\n";
    assert_eq!(call(&["greet", "{}"]), (true, missing.to_owned()));
    assert_eq!(call(&["leave", "{}"]), (false, String::new()));
}
