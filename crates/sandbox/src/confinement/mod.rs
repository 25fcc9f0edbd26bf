//! The sandbox: a worker irrevocably gives up the rights that decoding does not need.

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod files;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system_calls;

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protections {
    /// Landlock denies access to files, and to networks if the kernel supports that.
    pub files: bool,
    /// seccomp allows only the system calls that decoding needs: no network, no other program, no signals to other processes,
    /// no new executable memory.
    pub system_calls: bool,
    /// The worker has no capabilities, even if the service runs as root.
    pub capabilities: bool,
    /// The kernel limits the worker's memory and processor time.
    pub limits: bool,
}

impl Protections {
    /// The missing protections, for the operator.
    pub fn missing(&self) -> Vec<&'static str> {
        [
            (self.files, "the kernel has no Landlock: decoders are not kept from the file system"),
            (
                self.system_calls,
                "the kernel has no seccomp filter: the system calls of decoders are not restricted",
            ),
            (
                self.capabilities,
                "the kernel does not take capabilities away: decoders keep those of this process",
            ),
            (self.limits, "the kernel does not limit the memory and processor time of decoders"),
        ]
        .into_iter()
        .filter_map(|(active, missing)| (!active).then_some(missing))
        .collect()
    }
}

/// Sandboxes this process irrevocably: from now on it can only compute, read and write its open files, and exit. Protections
/// that the kernel does not support are skipped and reported.
///
/// Must be called while the process has a single thread; later threads inherit the restrictions. The service sets the
/// limits of memory and time from outside, so `limits` is always false here.
pub fn confine() -> Protections {
    // The order matters: Landlock opens a file and denies new privileges, and seccomp denies changes of limits and capabilities.
    let files = log_failure("Landlock", restrict_files());
    limit_resources();
    let capabilities = log_failure("dropping capabilities", drop_capabilities());
    let system_calls = log_failure("seccomp", restrict_system_calls());
    Protections { files, system_calls, capabilities, limits: false }
}

fn log_failure(mechanism: &str, outcome: Result<bool, String>) -> bool {
    outcome.unwrap_or_else(|error| {
        eprintln!("{mechanism} failed: {error}");
        false
    })
}

/// Forbids core dumps, which would contain photos, writing to files, and opening files.
fn limit_resources() {
    for resource in [Resource::Core, Resource::Fsize, Resource::Nofile] {
        if let Err(error) = setrlimit(resource, Rlimit { current: Some(0), maximum: Some(0) }) {
            eprintln!("the limit {resource:?} cannot be set: {error}");
        }
    }
}

#[cfg(target_os = "linux")]
fn drop_capabilities() -> Result<bool, String> {
    capabilities::drop_all().map(|()| true).map_err(|error| error.to_string())
}

#[cfg(target_os = "linux")]
fn restrict_files() -> Result<bool, String> {
    files::restrict()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn restrict_system_calls() -> Result<bool, String> {
    system_calls::restrict().map(|()| true)
}

#[cfg(not(target_os = "linux"))]
fn drop_capabilities() -> Result<bool, String> {
    Ok(false)
}

#[cfg(not(target_os = "linux"))]
fn restrict_files() -> Result<bool, String> {
    Ok(false)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn restrict_system_calls() -> Result<bool, String> {
    Ok(false)
}
