"""A disk with a fresh Debian 12, made by debootstrap, and the archives of the packages that the checks install there.

It is made once for each content, because that takes minutes. Virtual machines change a copy of it.
"""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

CODENAME = "bookworm"
#: The sources of a system that has none of this release.
DEFAULT_SOURCES = [
    ("http://deb.debian.org/debian", CODENAME),
    ("http://deb.debian.org/debian", f"{CODENAME}-updates"),
    ("http://deb.debian.org/debian-security", f"{CODENAME}-security"),
]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
#: Installed in the system, beside those that debootstrap calls required.
INSTALLED = ["dbus", "iproute2", "libpam-systemd", "linux-image-cloud-amd64", "openssh-server", "systemd-sysv", "udev"]
#: What the documents tell people to install beside the server. The machine finds these archives without a network.
PROXIES = ["caddy", "nginx"]
SIZE = "6G"
#: The name of the machine. Its addresses come from DHCP.
HOST_NAME = "library"
NETWORK = "[Match]\nName=en*\n\n[Network]\nDHCP=yes\n"
#: Installs packages in the folder $1, with services that stay off. The mounts are in a namespace of their own.
INSTALL = """
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount --bind /dev "$1/dev"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt="chroot $1 apt-get -q -y -o Dpkg::Use-Pty=0"
$apt update
$apt upgrade
$apt install --no-install-recommends $2
$apt satisfy --download-only "$3"
chroot "$1" systemctl enable ssh.service systemd-networkd.service
"""


@dataclass(frozen=True)
class Disk:
    """Files with which a virtual machine starts."""

    folder: Path

    @property
    def image(self) -> Path:
        return self.folder / "disk.ext4"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initial_ram_disk(self) -> Path:
        return self.folder / "initrd.img"

    @property
    def key(self) -> Path:
        """The key with which root signs in."""
        return self.folder / "key"


def ensure(folder: Path, package: Path) -> Disk:
    """The disk with the archives that this package depends on and recommends, in a sub-folder."""
    sources, wanted = apt_sources(), needs(package)
    content = repr((sources, wanted, Path(__file__).read_text()))
    disk = Disk(folder / f"disk-{hashlib.sha256(content.encode()).hexdigest()[:16]}")
    if not disk.folder.exists():
        for old in folder.glob("disk-*"):
            shutil.rmtree(old)
        making = Disk(folder / "making-disk")
        shutil.rmtree(making.folder, ignore_errors=True)
        making.folder.mkdir(parents=True)
        make(making, sources, wanted)
        making.folder.rename(disk.folder)
    return disk


def apt_sources() -> list[tuple[str, str]]:
    """The sources of this system for the release: pairs of URL and suite."""
    fields = "$(REPO_URI) $(RELEASE)"
    if not shutil.which("apt-get"):
        return DEFAULT_SOURCES
    command = ["apt-get", "indextargets", "--format", fields, "Created-By: Packages", "Origin: Debian", "Component: main"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [(url.rstrip("/"), suite) for url, suite in dict.fromkeys(tuple(line.split()) for line in lines)]
    has_release = any(suite == CODENAME for _, suite in found)
    return [source for source in found if source[1].startswith(CODENAME)] if has_release else DEFAULT_SOURCES


def needs(package: Path) -> str:
    """What a package depends on and recommends, in the form of these fields."""
    command = ["dpkg-deb", "--showformat", "${Depends}, ${Recommends}", "--show", str(package)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return ", ".join([text, *PROXIES])


def make(disk: Disk, sources: list[tuple[str, str]], wanted: str):
    """Fills the folder of the disk. The log is beside the image."""
    root = disk.folder / "root"
    with (disk.folder / "log.txt").open("w") as log:

        def run(*command, **options):
            done = subprocess.run([str(word) for word in command], stdout=log, stderr=log, **options)
            assert done.returncode == 0, f"{command[0]} failed, see {log.name}"

        [mirror, *_] = [url for url, suite in sources if suite == CODENAME]
        proxy = apt_proxy()
        environment = os.environ | ({"http_proxy": proxy} if proxy else {})
        run("debootstrap", "--variant=minbase", f"--keyring={KEYRING}", CODENAME, root, mirror, env=environment)
        lines = [f"deb [signed-by={KEYRING}] {url} {suite} main\n" for url, suite in sources]
        (root / "etc/apt/sources.list").write_text("".join(lines))
        prepare(root)
        # Settings of the system's connections, such as a proxy, are needed for this time only.
        settings, policy = root / "etc/apt/apt.conf.d/00-host", root / "usr/sbin/policy-rc.d"
        settings.write_text(connection_settings())
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        run("unshare", "--mount", "sh", "-exc", INSTALL, "sh", root, " ".join(INSTALLED), wanted)
        settings.unlink()
        policy.unlink()
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", disk.key)
        keys = root / "root/.ssh/authorized_keys"
        keys.parent.mkdir(mode=0o700, exist_ok=True)
        keys.write_bytes(disk.key.with_suffix(".pub").read_bytes())
        for link, file in [("vmlinuz", disk.kernel), ("initrd.img", disk.initial_ram_disk)]:
            shutil.copyfile((root / link).resolve(), file)
        run("truncate", "--size", SIZE, disk.image)
        run("mkfs.ext4", "-q", "-d", root, disk.image)
    shutil.rmtree(root)


def prepare(root: Path):
    """Writes what an installer would ask for."""
    (root / "etc/hostname").write_text(f"{HOST_NAME}\n")
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {HOST_NAME}\n")
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    network = root / "etc/systemd/network/wired.network"
    network.parent.mkdir(parents=True, exist_ok=True)
    network.write_text(NETWORK)


def apt_settings() -> list[str]:
    if not shutil.which("apt-config"):
        return []
    return subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout.splitlines()


def connection_settings() -> str:
    """apt's settings for proxies, retries and times of this system."""
    names = ("Acquire::http", "Acquire::https", "Acquire::Retries", "Acquire::Check-")
    return "".join(f"{line}\n" for line in apt_settings() if line.startswith(names))


def apt_proxy() -> str | None:
    """The proxy of apt, for debootstrap. Without one, that uses the variables of the environment."""
    for line in apt_settings():
        name, _, value = line.partition(" ")
        if name == "Acquire::http::Proxy":
            return value.strip('";') or None
    return None
