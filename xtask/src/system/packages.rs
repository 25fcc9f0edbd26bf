//! The packages of each tool, and what to do about missing ones. Decides only; runs nothing.

use std::fmt;

use super::Tools;

/// A system's package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Apt,
    Dnf,
    Pacman,
    Apk,
    Brew,
}

/// How this process may install packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privilege {
    Root,
    PasswordlessSudo,
    User,
}

/// How to find out whether a tool is installed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Probe {
    OnPath,
    /// A Chromium browser under any of its names.
    Chromium,
    /// Firefox under any of its names.
    Firefox,
    /// OpenSSL's headers and libraries.
    OpenSsl,
    /// The programs of a Postgres server.
    Postgres,
    /// A program that only root's path may lead to.
    OnSystemPath,
    /// Python runs this code without an error.
    Python(&'static str),
    /// The library that shifts the clock of a process.
    Faketime,
}

/// A program or library, and its packages in the order apt, dnf, pacman, apk, brew.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) probe: Probe,
    why: Why,
    packages: [&'static str; 5],
    /// What to do where the packages lack it.
    otherwise: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Build,
    /// A build works without it, but takes minutes longer.
    FasterBuild,
    Python,
    Test,
    Curl,
    Browser,
    Sync,
    Postgres,
    Machines,
    /// For each test with the Debian package.
    Unpack,
    Package,
    Install,
}

const TOOLS: [Tool; 26] = [
    Tool {
        name: "cc",
        probe: Probe::OnPath,
        why: Why::Build,
        packages: ["build-essential", "gcc gcc-c++", "base-devel", "build-base", "gcc"],
        otherwise: None,
    },
    Tool {
        name: "make",
        probe: Probe::OnPath,
        why: Why::Build,
        packages: ["build-essential", "make", "base-devel", "build-base", "make"],
        otherwise: None,
    },
    Tool { name: "cmake", probe: Probe::OnPath, why: Why::Build, packages: ["cmake"; 5], otherwise: None },
    Tool { name: "nasm", probe: Probe::OnPath, why: Why::Build, packages: ["nasm"; 5], otherwise: None },
    Tool {
        name: "OpenSSL's headers",
        probe: Probe::OpenSsl,
        why: Why::FasterBuild,
        packages: [
            "libssl-dev pkg-config",
            "openssl-devel pkgconf-pkg-config",
            "openssl pkgconf",
            "openssl-dev pkgconf",
            "openssl@3 pkgconf",
        ],
        otherwise: None,
    },
    Tool {
        name: "python3",
        // Debian's python3 lacks ensurepip, and a venv then has no pip.
        probe: Probe::Python("import ensurepip, venv"),
        why: Why::Python,
        packages: ["python3 python3-venv", "python3 python3-pip", "python", "python3 py3-pip", "python"],
        otherwise: None,
    },
    Tool {
        name: "libheif with its decoders",
        probe: Probe::Python(HAS_LIBHEIF),
        why: Why::Test,
        packages: ["libheif1", "libheif", "libheif", "libheif", "libheif"],
        otherwise: None,
    },
    Tool {
        name: "Tesseract with English",
        probe: Probe::Python(HAS_TESSERACT),
        why: Why::Test,
        packages: [
            "tesseract-ocr",
            "tesseract",
            "tesseract tesseract-data-eng",
            "tesseract-ocr tesseract-ocr-data-eng",
            "tesseract",
        ],
        otherwise: None,
    },
    Tool {
        name: "pebble",
        probe: Probe::OnPath,
        why: Why::Test,
        packages: ["pebble"; 5],
        otherwise: Some(
            "Debian and Ubuntu have a package of Pebble, the test server for ACME. Elsewhere, install it from its source.",
        ),
    },
    Tool {
        name: "chromium",
        probe: Probe::Chromium,
        why: Why::Browser,
        // Without a font, text has no size.
        packages: [
            "chromium-headless-shell fonts-dejavu-core",
            "chromium dejavu-sans-fonts",
            "chromium ttf-dejavu",
            "chromium font-dejavu",
            "chromium",
        ],
        otherwise: Some(
            "Ubuntu has Chromium only as a snap: `sudo snap install chromium`. Google Chrome works too.",
        ),
    },
    Tool {
        name: "firefox",
        probe: Probe::Firefox,
        why: Why::Browser,
        packages: ["firefox-esr", "firefox", "firefox", "firefox-esr", "--cask firefox"],
        otherwise: Some("Ubuntu has Firefox only as a snap: `sudo snap install firefox`."),
    },
    Tool { name: "curl", probe: Probe::OnPath, why: Why::Curl, packages: ["curl"; 5], otherwise: None },
    Tool {
        name: "nextcloudcmd",
        probe: Probe::OnPath,
        why: Why::Sync,
        packages: [
            "nextcloud-desktop-cmd",
            "nextcloud-client",
            "nextcloud-client",
            "nextcloud-client",
            "--cask nextcloud",
        ],
        otherwise: Some(
            "On macOS the program is in the application: add /Applications/Nextcloud.app/Contents/MacOS to PATH.",
        ),
    },
    Tool { name: "cadaver", probe: Probe::OnPath, why: Why::Sync, packages: ["cadaver"; 5], otherwise: None },
    Tool {
        name: "litmus",
        probe: Probe::OnPath,
        why: Why::Sync,
        packages: ["litmus"; 5],
        otherwise: Some("Debian and Ubuntu have a package of litmus. Elsewhere, install it from its source."),
    },
    Tool {
        name: "postgres",
        probe: Probe::Postgres,
        why: Why::Postgres,
        packages: ["postgresql", "postgresql-server", "postgresql", "postgresql", "postgresql@17"],
        otherwise: None,
    },
    Tool {
        name: "pgbouncer",
        probe: Probe::OnSystemPath,
        why: Why::Postgres,
        packages: ["pgbouncer"; 5],
        otherwise: None,
    },
    Tool {
        name: "nginx",
        probe: Probe::OnSystemPath,
        why: Why::Machines,
        packages: ["nginx-light", "nginx", "nginx", "nginx", "nginx"],
        otherwise: None,
    },
    Tool {
        name: "libfaketime",
        probe: Probe::Faketime,
        why: Why::Machines,
        packages: ["faketime", "libfaketime", "libfaketime", "libfaketime", "libfaketime"],
        otherwise: None,
    },
    Tool { name: "dpkg-deb", probe: Probe::OnPath, why: Why::Unpack, packages: ["dpkg"; 5], otherwise: None },
    Tool {
        name: "bwrap",
        probe: Probe::OnPath,
        why: Why::Package,
        packages: ["bubblewrap"; 5],
        otherwise: None,
    },
    Tool {
        name: "qemu-system-x86_64",
        probe: Probe::OnPath,
        why: Why::Install,
        packages: ["qemu-system-x86", "qemu-system-x86", "qemu-system-x86", "qemu-system-x86_64", "qemu"],
        otherwise: None,
    },
    Tool {
        name: "debootstrap",
        probe: Probe::OnSystemPath,
        why: Why::Install,
        // With the keys of Debian's archive.
        packages: [
            "debootstrap debian-archive-keyring",
            "debootstrap debian-keyring",
            "debootstrap debian-archive-keyring",
            "debootstrap debian-archive-keyring",
            "debootstrap",
        ],
        otherwise: None,
    },
    Tool {
        name: "mkfs.ext4",
        probe: Probe::OnSystemPath,
        why: Why::Install,
        packages: ["e2fsprogs"; 5],
        otherwise: None,
    },
    Tool {
        name: "ip",
        probe: Probe::OnSystemPath,
        why: Why::Install,
        packages: ["iproute2", "iproute", "iproute2", "iproute2", "iproute2mac"],
        otherwise: None,
    },
    Tool {
        name: "ssh",
        probe: Probe::OnPath,
        why: Why::Install,
        packages: ["openssh-client", "openssh-clients", "openssh", "openssh-client", "openssh"],
        otherwise: None,
    },
];

/// Loads libheif as the server does, and looks for its decoders of HEVC (1) and AV1 (4). If the library is not found,
/// `CDLL(None)` is Python itself, which lacks these functions.
const HAS_LIBHEIF: &str = "
import ctypes, ctypes.util, sys
name = ctypes.util.find_library('heif') if sys.platform == 'darwin' else 'libheif.so.1'
heif = ctypes.CDLL(name)
# Loads the decoders that are plugins; older releases have neither.
hasattr(heif, 'heif_init') and heif.heif_init(None)
sys.exit(not (heif.heif_have_decoder_for_format(1) and heif.heif_have_decoder_for_format(4)))
";

/// Loads Tesseract as the server does, and its trained data for English.
const HAS_TESSERACT: &str = "
import ctypes, ctypes.util, sys
def load():
    if sys.platform == 'darwin':
        return ctypes.CDLL(ctypes.util.find_library('tesseract'))
    try:
        return ctypes.CDLL('libtesseract.so.5')
    except OSError:
        return ctypes.CDLL('libtesseract.so.4')
tesseract = load()
tesseract.TessBaseAPICreate.restype = ctypes.c_void_p
engine = ctypes.c_void_p(tesseract.TessBaseAPICreate())
code = tesseract.TessBaseAPIInit3(engine, None, b'eng')
tesseract.TessBaseAPIDelete(engine)
sys.exit(code != 0)
";

/// The tools for a task.
pub(super) fn needed_for(tools: Tools) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| match tool.why {
        Why::Build | Why::FasterBuild => true,
        Why::Python => matches!(tools, Tools::Test | Tools::Release),
        Why::Test => tools == Tools::Test,
        Why::Curl => matches!(tools, Tools::Curl | Tools::Sync),
        Why::Browser => tools == Tools::Browser,
        Why::Sync => tools == Tools::Sync,
        Why::Postgres => tools == Tools::Postgres,
        Why::Machines => tools == Tools::Machines,
        Why::Unpack => matches!(tools, Tools::Package | Tools::Install),
        Why::Package => tools == Tools::Package,
        Why::Install => tools == Tools::Install,
    })
}

/// Missing tools; displayed as `cmake, nasm`.
#[derive(Debug)]
pub(crate) struct Missing(pub(super) Vec<&'static Tool>);

impl Missing {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any of them is required.
    pub(super) fn is_required(&self) -> bool {
        self.0.iter().any(|tool| tool.why != Why::FasterBuild)
    }

    /// What to do where the packages lack a tool, one line each.
    pub(super) fn otherwise(&self) -> String {
        self.0.iter().filter_map(|tool| tool.otherwise).map(|words| format!("\n{words}\n")).collect()
    }

    fn packages(&self, manager: Manager) -> Vec<&'static str> {
        let mut packages = Vec::new();
        for package in self.0.iter().flat_map(|tool| manager.choose(tool.packages).split(' ')) {
            if !packages.contains(&package) {
                packages.push(package);
            }
        }
        packages
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|tool| tool.name).collect();
        formatter.write_str(&names.join(", "))
    }
}

impl Manager {
    /// In search order. Homebrew is last: on Linux it runs beside the system's own manager.
    pub(super) const ALL: [Self; 5] = [Self::Apt, Self::Dnf, Self::Pacman, Self::Apk, Self::Brew];

    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Apt => "apt-get",
            Self::Dnf => "dnf",
            Self::Pacman => "pacman",
            Self::Apk => "apk",
            Self::Brew => "brew",
        }
    }

    fn choose(self, [apt, dnf, pacman, apk, brew]: [&'static str; 5]) -> &'static str {
        match self {
            Self::Apt => apt,
            Self::Dnf => dnf,
            Self::Pacman => pacman,
            Self::Apk => apk,
            Self::Brew => brew,
        }
    }

    /// The one command line that a user pastes.
    fn command(self, packages: &[&str], privilege: Privilege) -> String {
        let sudo = if privilege == Privilege::Root || self == Self::Brew { "" } else { "sudo " };
        let packages = packages.join(" ");
        match self {
            Self::Apt => format!("{sudo}apt-get update && {sudo}apt-get install -y {packages}"),
            Self::Dnf => format!("{sudo}dnf install -y {packages}"),
            Self::Pacman => format!("{sudo}pacman -S --needed --noconfirm {packages}"),
            Self::Apk => format!("{sudo}apk add {packages}"),
            Self::Brew => format!("brew install {packages}"),
        }
    }
}

/// What to do about missing tools.
#[derive(Debug)]
pub(super) enum Plan {
    /// Run these commands in turn; if one fails, the user runs `by_hand`.
    Install { missing: Missing, commands: Vec<Vec<String>>, by_hand: String },
    /// Print this command for the user to run.
    PrintCommand { missing: Missing, command: String },
    /// No known package manager is installed.
    NoManager { missing: Missing },
}

/// Plans to run apt-get where that needs no password, and to print the command everywhere else.
pub(super) fn plan(missing: Missing, manager: Option<Manager>, privilege: Privilege) -> Plan {
    let Some(manager) = manager else { return Plan::NoManager { missing } };
    let packages = missing.packages(manager);
    let by_hand = manager.command(&packages, privilege);
    if manager != Manager::Apt || privilege == Privilege::User {
        return Plan::PrintCommand { missing, command: by_hand };
    }
    let commands = apt_commands(&packages, privilege);
    Plan::Install { missing, commands, by_hand }
}

fn apt_commands(packages: &[&str], privilege: Privilege) -> Vec<Vec<String>> {
    let prefix: &[&str] = match privilege {
        // sudo drops the environment, so env sets it again.
        Privilege::PasswordlessSudo => &["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"],
        Privilege::Root | Privilege::User => &[],
    };
    let command = |rest: &[&str]| prefix.iter().chain(rest).map(|word| (*word).to_owned()).collect();
    // With a pty of its own, dpkg would stop as a background process.
    let install = ["apt-get", "-o", "Dpkg::Use-Pty=0", "install", "-y", "--no-install-recommends"];
    vec![command(&["apt-get", "update"]), command(&[&install, packages].concat())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(names: &[&str]) -> Missing {
        Missing(TOOLS.iter().filter(|tool| names.contains(&tool.name)).collect())
    }

    fn command_for_user(names: &[&str], manager: Manager, privilege: Privilege) -> String {
        match plan(missing(names), Some(manager), privilege) {
            Plan::PrintCommand { command, .. } => command,
            other => panic!("expected a command for the user, got {other:?}"),
        }
    }

    #[test]
    fn the_user_gets_one_command_to_install_missing_tools() {
        let cases = [
            (
                Manager::Apt,
                Privilege::User,
                "sudo apt-get update && sudo apt-get install -y build-essential cmake",
            ),
            (Manager::Dnf, Privilege::User, "sudo dnf install -y gcc gcc-c++ make cmake"),
            (Manager::Pacman, Privilege::User, "sudo pacman -S --needed --noconfirm base-devel cmake"),
            (Manager::Apk, Privilege::Root, "apk add build-base cmake"),
            (Manager::Brew, Privilege::User, "brew install gcc make cmake"),
        ];
        for (manager, privilege, expect) in cases {
            assert_eq!(command_for_user(&["cc", "make", "cmake"], manager, privilege), expect);
        }
    }

    #[test]
    fn apt_runs_where_no_password_is_needed() {
        let cases = [
            (Privilege::Root, "apt-get update"),
            (Privilege::PasswordlessSudo, "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get update"),
        ];
        for (privilege, update) in cases {
            let plan = plan(missing(&["nasm", "python3"]), Some(Manager::Apt), privilege);
            let Plan::Install { missing, commands, .. } = plan else { panic!("expected an installation") };
            assert_eq!(missing.to_string(), "nasm, python3");
            let commands: Vec<_> = commands.iter().map(|words| words.join(" ")).collect();
            let [first, second] = commands.as_slice() else { panic!("expected two commands: {commands:?}") };
            assert_eq!(first, update);
            assert!(second.ends_with("--no-install-recommends nasm python3 python3-venv"), "{second}");
        }
    }

    #[test]
    fn without_a_package_manager_the_tools_are_named() {
        let plan = plan(missing(&["cmake", "nasm"]), None, Privilege::Root);
        let Plan::NoManager { missing } = plan else { panic!("expected no manager") };
        assert_eq!(missing.to_string(), "cmake, nasm");
    }

    #[test]
    fn a_tool_without_a_package_has_a_hint() {
        assert!(missing(&["cc", "chromium"]).otherwise().contains("snap install chromium"));
        assert_eq!(missing(&["cc", "cmake"]).otherwise(), "");
    }

    #[test]
    fn each_task_needs_its_own_tools() {
        let build = ["cc", "make", "cmake", "nasm", "OpenSSL's headers"];
        let check = |tools, more: &[&str]| {
            let names: Vec<_> = needed_for(tools).map(|tool| tool.name).collect();
            assert_eq!(names, [&build, more].concat());
        };
        check(Tools::Build, &[]);
        check(Tools::Test, &["python3", "libheif with its decoders", "Tesseract with English", "pebble"]);
        check(Tools::Curl, &["curl"]);
        check(Tools::Browser, &["chromium", "firefox"]);
        check(Tools::Sync, &["curl", "nextcloudcmd", "cadaver", "litmus"]);
        check(Tools::Postgres, &["postgres", "pgbouncer"]);
        check(Tools::Machines, &["nginx", "libfaketime"]);
        check(Tools::Package, &["dpkg-deb", "bwrap"]);
        check(Tools::Install, &["dpkg-deb", "qemu-system-x86_64", "debootstrap", "mkfs.ext4", "ip", "ssh"]);
    }

    #[test]
    fn openssl_headers_are_not_required() {
        assert!(!missing(&["OpenSSL's headers"]).is_required());
        assert!(missing(&["OpenSSL's headers", "nasm"]).is_required());
    }
}
