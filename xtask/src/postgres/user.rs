//! The user that servers run as which refuse to run as root.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// In search order. Debian's package creates the first; every system has the second.
const NAMES: [&str; 2] = ["postgres", "nobody"];

/// The numbers of another user and its group if this process is root; otherwise servers run as the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerUser(Option<(u32, u32)>);

impl ServerUser {
    /// The caller if it is not root; otherwise the first known user. `None` if there is none.
    pub(super) fn find() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Some(Self(None));
        }
        let users = fs::read_to_string("/etc/passwd").ok()?;
        NAMES.iter().find_map(|name| ids_of(&users, name)).map(|ids| Self(Some(ids)))
    }

    /// A command that runs a program as this user.
    pub(super) fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Self(Some((user, group))) = self {
            // Setting the user also removes the supplementary groups of root.
            command.uid(user).gid(group);
        }
        // The caller's folder may be unreadable for this user.
        command.current_dir("/");
        command
    }

    /// Gives a file or folder to this user.
    pub(super) fn give(self, path: &Path) -> io::Result<()> {
        match self.0 {
            Some((user, group)) => chown(path, Some(user), Some(group)),
            None => Ok(()),
        }
    }

    /// Whether this user can write to a folder, which also depends on the folders above.
    pub(super) fn can_write(self, folder: &Path) -> bool {
        let mut command = self.command(Path::new("test"));
        command.arg("-w").arg(folder).stdin(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// The user's and the group's number in the format of `/etc/passwd`.
fn ids_of(users: &str, name: &str) -> Option<(u32, u32)> {
    let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_whole_name() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\nnobody2:x:1:2::/:/x\nnobody:x:65534:65533:n:/x:/y\nbad:x:a:b";
        for (name, expect) in
            [("nobody", Some((65534, 65533))), ("root", Some((0, 0))), ("bad", None), ("postgres", None)]
        {
            assert_eq!(ids_of(users, name), expect, "{name}");
        }
    }

    #[test]
    fn the_server_user_is_never_root() {
        assert_ne!(ServerUser::find().unwrap().0, Some((0, 0)));
        let output = ServerUser::find().unwrap().command(Path::new("id")).arg("-u").output().unwrap();
        assert_ne!(String::from_utf8(output.stdout).unwrap().trim(), "0");
    }
}
