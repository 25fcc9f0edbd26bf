//! Official clients with the example services of the public crates.

use std::process::Command;

use super::{CLIENTS, Clients, ClientsError, FIRST_PORT};
use crate::instance::free_port;
use crate::suite::counts::Counts;
use crate::workspace;

/// The examples of `oauth-core`. Their resource is at `/`.
const OAUTH_SERVICES: [&str; 2] = ["axum_service", "hyper_service"];
/// The user of these examples that have a sign-in form.
const USER: [(&str, &str); 2] = [("EMAIL", "ada@example.org"), ("PASSWORD", "correct horse")];
/// Those clients of the service that know only OAuth.
const OAUTH_CLIENTS: [&str; 3] = ["oauth4webapi", "openid-client", "python-authlib_client"];
/// The example of `mcp-wire`, and the folder of its clients.
const MCP_SERVER: &str = "mcp_server";
const MCP_CLIENTS: &str = "greeter";

pub(super) fn run(clients: &Clients<'_>) -> Result<Counts, ClientsError> {
    let mut counts = Counts::default();
    for service in OAUTH_SERVICES {
        let mut programs = clients.all_in(CLIENTS)?;
        programs.retain(|(name, _)| OAUTH_CLIENTS.contains(&name.as_str()));
        counts = counts + use_example(clients, service, programs, "EXAMPLE_URL", "/")?;
    }
    let programs = clients.all_in(MCP_CLIENTS)?;
    Ok(counts + use_example(clients, MCP_SERVER, programs, "GREETER_URL", "/mcp")?)
}

/// Runs clients with an example. They read the URL from this variable.
fn use_example(
    clients: &Clients<'_>,
    example: &str,
    programs: Vec<(String, Command)>,
    variable: &str,
    path: &str,
) -> Result<Counts, ClientsError> {
    let port = free_port(FIRST_PORT);
    let address = format!("127.0.0.1:{port}");
    let mut command = Command::new(workspace::target("debug/examples").join(example));
    let mut server = clients.start(example, &mut command, &address, port)?;
    let mut counts = Counts::default();
    for (name, mut command) in programs {
        command.env(variable, format!("http://{address}{path}")).envs(USER);
        counts = counts + clients.run_one(&format!("{example}-{name}"), &mut command)?;
    }
    server.stop()?;
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oauth_clients_exist() {
        for client in OAUTH_CLIENTS {
            let file = match client.strip_prefix("python-") {
                Some(name) => format!("tests/python/{CLIENTS}/{name}.py"),
                None => format!("tests/node/{CLIENTS}/{client}.mjs"),
            };
            assert!(workspace::path(&file).exists(), "{file}");
        }
    }
}
