use std::{
    net::{TcpListener, TcpStream, ToSocketAddrs as _},
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd},
        unix::{fs::PermissionsExt as _, net::UnixDatagram},
    },
    process::Command,
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    photos,
    program::{EMAIL, Instance, Server},
};

const LIBRARY: &str = "/api/ext/v2/library";

#[test]
fn serve_prints_its_address_and_stops_on_signals() {
    for signal in [Signal::TERM, Signal::INT] {
        let instance = Instance::new();
        let server = instance.serve();
        assert_eq!(server.get("/readyz", "").status, 200);
        // An idle connection does not delay the exit.
        let _idle = TcpStream::connect(&server.address).unwrap();
        let address = server.address.clone();
        let (status, took, stdout, stderr) = server.stop(signal);
        assert_eq!(status.code(), Some(0), "{signal:?}: {stderr}");
        assert!(took < Duration::from_secs(11), "{took:?}");
        assert!(stdout.contains(&format!("  http://{address}/setup?token=")), "{stdout}");
        assert_eq!(instance.files_of_store(), ["library.sqlite"]);
        let mode = std::fs::metadata(instance.data_dir().join("secret")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn with_an_account_only_the_address_is_printed() {
    let instance = Instance::with_account();
    let (status, _, stdout, _) = instance.serve().stop(Signal::TERM);
    assert_eq!((status.code(), stdout.as_str()), (Some(0), ""));
}

#[test]
fn commands_take_effect_at_the_next_request() {
    let instance = Instance::with_account();
    let mut command = instance.command(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let server = Server::start(command.env("RUST_LOG", "debug"));
    let (first, second) = (instance.create_key("first"), instance.create_key("second"));
    let images = |key: &str| {
        let response = server.get(LIBRARY, key);
        (response.status, response.body["result"]["totalImages"].as_u64())
    };
    assert_eq!(images(&first), (200, Some(0)));
    assert_eq!(server.get("/api/ext/v2/images", &first).status, 409);

    let folder = instance.beside("photos");
    photos::generate(&folder, 3);
    instance.ok(["import", EMAIL, folder.to_str().unwrap()]);
    assert_eq!(images(&first), (200, Some(3)));
    let listed = server.get("/api/ext/v2/images", &first).body;
    assert_eq!(listed["results"].as_array().map(Vec::len), Some(3), "{listed}");

    instance.ok(["account", "set-plan", EMAIL, "free"]);
    assert_eq!(server.get(LIBRARY, &first).body["result"]["plan"], "free");

    instance.ok(["key", "revoke", EMAIL, "first"]);
    assert_eq!(images(&first).0, 401);
    assert_eq!(images(&second).0, 200);
    instance.ok(["account", "delete", EMAIL, "--yes"]);
    assert_eq!(images(&second).0, 401);

    let (status, _, _, stderr) = server.stop(Signal::TERM);
    assert_eq!(status.code(), Some(0));
    assert!(stderr.lines().all(|line| line.starts_with('{')) && !stderr.is_empty(), "{stderr}");
    for secret in [first, second] {
        assert!(!stderr.contains(&secret), "a key is in the log");
    }
}

#[test]
fn metrics_are_served_at_their_own_address() {
    let instance = Instance::with_account();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", &free];
    let server = Server::start(&mut instance.command(arguments));
    assert_eq!(server.get("/readyz", "").status, 200);
    assert_eq!(server.get("/metrics", "").status, 404);
    let (status, text) = crate::http::get_text(&free, "/metrics");
    assert_eq!(status, 200);
    assert!(text.contains("photos_store_up{store=\"blobs\"} 1\n"), "{text}");

    let refused = instance.command(arguments).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("choose another with --metrics-listen"), "{message}");

    let (status, _, stdout, _) = server.stop(Signal::TERM);
    assert_eq!((status.code(), stdout), (Some(0), format!("metrics on http://{free}/metrics\n")));
}

#[test]
fn serve_listens_on_all_addresses_of_a_name() {
    let instance = Instance::with_account();
    let server = Server::start(&mut instance.command(["serve", "--listen", "localhost:0"]));
    let port = server.address.strip_prefix("localhost:").unwrap().to_owned();
    for address in format!("localhost:{port}").to_socket_addrs().unwrap() {
        // The machine may have no IPv6.
        if TcpListener::bind((address.ip(), 0)).is_ok() {
            let address = address.to_string();
            assert_eq!(crate::http::get(&address, "/readyz", "").status, 200, "{address}");
        }
    }
    let (status, _, stdout, _) = server.stop(Signal::TERM);
    assert_eq!((status.code(), stdout.as_str()), (Some(0), ""));
}

#[test]
fn serve_prints_the_base_url_that_browsers_need() {
    let instance = Instance::with_account();
    let output = |arguments: &[&str]| {
        let mut command = instance.command(["serve"]);
        let server = Server::start(command.args(arguments));
        let port = server.address.rsplit(':').next().unwrap().to_owned();
        let (_, _, stdout, stderr) = server.stop(Signal::TERM);
        (port, stdout, stderr)
    };
    // Links point to this machine only.
    let (port, stdout, _) = output(&["--listen", "0.0.0.0:0"]);
    assert!(stdout.contains("--base-url http://") && stdout.contains(&format!(":{port}")), "{stdout}");
    let (port, stdout, _) = output(&["--listen", "0.0.0.0:0", "--base-url", "http://localhost:1"]);
    assert!(stdout.contains("--base-url http://") && stdout.contains(&format!(":{port}")), "{stdout}");
    // The base URL has another port, and there is no proxy.
    let (port, stdout, _) = output(&["--listen", "127.0.0.1:0", "--base-url", "http://127.0.0.1:1"]);
    assert!(stdout.contains(&format!("--base-url http://127.0.0.1:{port}")), "{stdout}");
    // Passwords would be sent unencrypted.
    let (_, _, stderr) = output(&["--listen", "127.0.0.1:0", "--base-url", "http://photos.example.org"]);
    assert!(stderr.contains("https://photos.example.org") && stderr.contains("not encrypted"), "{stderr}");
    // Matching settings print nothing.
    for fits in [
        &["--listen", "127.0.0.1:0"][..],
        &["--listen", "[::1]:0"],
        &["--listen", "127.0.0.1:0", "--base-url", "https://photos.example.org"],
        &["--listen", "127.0.0.1:0", "--base-url", "http://127.0.0.1:1", "--trusted-proxy", "127.0.0.1"],
    ] {
        let (_, stdout, stderr) = output(fits);
        assert_eq!(stdout, "", "{fits:?}");
        assert!(!stderr.contains("WARN"), "{fits:?}: {stderr}");
    }
}

#[test]
fn the_service_manager_opens_sockets_and_learns_of_the_state() {
    let instance = Instance::with_account();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    // The program inherits the socket, as it does from systemd.
    let pass = |command: &mut Command, socket: BorrowedFd| {
        rustix::io::fcntl_setfd(socket, rustix::io::FdFlags::empty()).unwrap();
        command.env("LISTEN_FDS", "1").env("LISTEN_FDS_FIRST_FD", socket.as_raw_fd().to_string());
    };
    let messages = UnixDatagram::bind(instance.beside("notify")).unwrap();
    messages.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let next = || {
        let mut bytes = [0; 100];
        let length = messages.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let mut command = instance.command(["serve", "--listen", "127.0.0.1:1"]);
    command.env("NOTIFY_SOCKET", instance.beside("notify"));
    pass(&mut command, socket.as_fd());
    let server = Server::start(&mut command);
    assert_eq!(server.address, socket.local_addr().unwrap().to_string());
    assert_eq!(next(), "READY=1\n");
    assert_eq!(server.get("/readyz", "").status, 200);
    let (status, _, _, stderr) = server.stop(Signal::TERM);
    assert_eq!(next(), "STOPPING=1\n");
    assert_eq!(status.code(), Some(0), "{stderr}");

    // Anything else than a listening TCP socket is refused.
    let datagram = UnixDatagram::unbound().unwrap();
    let mut command = instance.command(["serve"]);
    pass(&mut command, datagram.as_fd());
    let refused = crate::program::outcome(&mut command, "");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("cannot listen on the sockets of the service manager"), "{refused:?}");
}

#[test]
fn a_response_and_the_log_name_the_request() {
    let instance = Instance::with_account();
    let options =
        ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--trusted-proxy", "127.0.0.1"];
    let server = Server::start(instance.command(options).env("RUST_LOG", "info,web=debug"));
    let named = |given: &str| {
        let header = format!("X-Request-Id: {given}\r\n");
        let (_, response) = crate::http::get_text_with(&server.address, "/healthz", &header);
        let line = response.lines().find_map(|line| line.strip_prefix("x-request-id: "));
        line.unwrap_or_else(|| panic!("{response}")).to_owned()
    };
    assert_eq!(named("proxy-7"), "proxy-7");
    let own = named("not a name");
    assert!(
        own.split_once('-').is_some_and(|(process, number)| process.len() == 16 && number == "1"),
        "{own}"
    );
    let (_, _, _, stderr) = server.stop(Signal::TERM);
    for id in ["proxy-7", &own] {
        let line = stderr.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("{stderr}"));
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&line["span"]["id"], &line["fields"]["route"]),
            (&id.into(), &"/healthz".into()),
            "{line}"
        );
    }
}
