//! How a worker gives up, for good, what decoding does not need.

#[cfg(target_os = "linux")]
mod files;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system_calls;

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// What holds a worker back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protections {
    /// It reaches no file (Landlock), nor a network where the kernel's Landlock can close that.
    pub files: bool,
    /// It can make only the system calls that decoding takes (seccomp): no network, no other program, no signal to
    /// another process, no code that was not in it from the start.
    pub system_calls: bool,
    /// The kernel bounds its memory and processor time.
    pub limits: bool,
}

impl Protections {
    /// What is missing, for whoever runs the service.
    pub fn missing(&self) -> Vec<&'static str> {
        [
            (self.files, "the kernel has no Landlock that would keep decoders from the file system"),
            (
                self.system_calls,
                "the kernel has no seccomp filter that would bound what decoders can ask of it",
            ),
            (self.limits, "the kernel does not bound the memory and processor time of decoders"),
        ]
        .into_iter()
        .filter_map(|(active, missing)| (!active).then_some(missing))
        .collect()
    }
}

/// Closes the process off: from now on it can compute, read and write what it has open, and end. There is no way
/// back. What the kernel does not know is left out and reported.
///
/// To be called while the process has a single thread; threads that it starts later are bound, too. The bounds of
/// memory and time come from outside, so `limits` is always false here.
pub fn confine() -> Protections {
    // Landlock needs an open file to set itself up, and seccomp refuses changes of limits: the order matters.
    let files = noted("Landlock", close_files());
    limit_itself();
    let system_calls = noted("seccomp", close_system_calls());
    Protections { files, system_calls, limits: false }
}

fn noted(what: &str, outcome: Result<bool, String>) -> bool {
    outcome.unwrap_or_else(|error| {
        eprintln!("{what} does not work: {error}");
        false
    })
}

/// No core dump with somebody's photo in it, no byte into any file, no further open file of any kind.
fn limit_itself() {
    for resource in [Resource::Core, Resource::Fsize, Resource::Nofile] {
        if let Err(error) = setrlimit(resource, Rlimit { current: Some(0), maximum: Some(0) }) {
            eprintln!("{resource:?} is not limited: {error}");
        }
    }
}

#[cfg(target_os = "linux")]
fn close_files() -> Result<bool, String> {
    files::close()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn close_system_calls() -> Result<bool, String> {
    system_calls::close().map(|()| true)
}

#[cfg(not(target_os = "linux"))]
fn close_files() -> Result<bool, String> {
    Ok(false)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn close_system_calls() -> Result<bool, String> {
    Ok(false)
}
