"""A virtual machine that starts from a disk, and root's commands in it over ssh."""

import json
import shlex
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from checking import TIME_LIMIT_S, Log, wait_until
from disk import Disk

#: Its own addresses in the network that QEMU makes for it; this machine is the router.
ROUTER = "10.0.2.2"
#: Ports of the loopback interface that lead to the same ports of the machine.
PORTS = [22, 80, 443]
MEMORY = "2G"
PROCESSORS = "2"
#: The processor's virtualisation, else emulation. Where virtualisation is nested, it may fail only while the system
#: starts.
ACCELERATIONS = ["kvm", "tcg"]
FAILURE = "internal error"
#: Each disk has host keys of its own.
SSH = """Host machine
HostName 127.0.0.1
User root
IdentityFile {key}
IdentitiesOnly yes
BatchMode yes
ConnectTimeout 120
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
ControlMaster auto
ControlPersist yes
ControlPath {control}
"""


class Guest:
    """A running machine. Changes of its disk are gone when it stops."""

    def __init__(self, disk: Disk, folder: Path):
        self._disk, self._console, self._output = disk, folder / "console.txt", folder / "qemu.txt"
        configuration = folder / "ssh.conf"
        # Not in the folder, because the path of a socket must be short.
        configuration.write_text(SSH.format(key=disk.key, control=f"{tempfile.mkdtemp()}/ssh"))
        self._ssh = ["ssh", "-F", str(configuration), "machine"]
        self._scp = ["scp", "-q", "-r", "-F", str(configuration)]
        assert any(self._starts(acceleration) for acceleration in ACCELERATIONS), self._output.read_text()

    def _starts(self, acceleration: str) -> bool:
        """Starts QEMU. Returns whether the system has started."""
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{port}-:{port}" for port in PORTS)
        options = {
            "-accel": [acceleration],
            "-cpu": ["max"],
            "-smp": [PROCESSORS],
            "-m": [MEMORY],
            "-kernel": [self._disk.kernel],
            "-initrd": [self._disk.initial_ram_disk],
            "-append": ["root=/dev/vda rw console=ttyS0 panic=-1"],
            "-drive": [f"file={self._disk.image},format=raw,if=virtio,snapshot=on"],
            # `restrict`: it reaches nothing outside.
            "-netdev": [f"user,id=net,restrict=on{forwards}"],
            "-device": ["virtio-net-pci,netdev=net", "virtio-rng-pci"],
            "-serial": [f"file:{self._console}"],
            "-display": ["none"],
            "-monitor": ["stdio"],
        }
        words = [str(word) for name, values in options.items() for value in values for word in (name, value)]
        with self._output.open("w") as output:
            command = ["qemu-system-x86_64", "-nodefaults", *words]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output)
        wait_until(lambda: self._has_failed() or self.boot_id(), "the machine does not start")
        if self._has_failed():
            self.stop()
            return False
        print(f"the machine has started with {acceleration}", flush=True)
        return True

    def _has_failed(self) -> bool:
        return self._process.poll() is not None or FAILURE in self._output.read_text(errors="replace")

    def run(self, log: Log, command: str, status: int | None = 0, stdin: str = "") -> str:
        """Runs a command line as root, and returns its output, stdout and stderr together."""
        return log.run(*self._ssh, command, status=status, stdin=stdin)

    def json(self, log: Log, command: str, status: int = 0):
        """Runs a command line as root, and returns the document in its output."""
        return json.loads(self.run(log, f"{command} 2>/dev/null", status))

    def show(self, log: Log, *properties: str) -> dict[str, str]:
        """Properties of the service."""
        names = ",".join(properties)
        lines = self.run(log, f"systemctl show photo-library --property={names}").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def copy(self, log: Log, *sources: Path, to: str):
        """Copies files and folders of this machine into a folder."""
        log.run(*self._scp, *sources, f"machine:{to}/")

    def write(self, log: Log, path: str, content: str):
        self.run(log, f"cat > {shlex.quote(path)}", stdin=content)

    def boot_id(self) -> str:
        """An identifier that changes with each start, or nothing while ssh does not answer."""
        command = [*self._ssh, "-o", "ControlPath=none", "-o", "ConnectTimeout=10", "cat /proc/sys/kernel/random/boot_id"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.strip()

    def _wait_for_another_start(self, before: str):
        """Waits until a machine that had this identifier has started again."""
        self._end_connection()
        wait_until(lambda: self.boot_id() not in ("", before), "the machine does not start again")

    def reboot(self, log: Log):
        before = self.boot_id()
        # The connection may end before the command has answered.
        self.run(log, "systemctl reboot", status=None)
        self._wait_for_another_start(before)

    def lose_power(self):
        """Starts again without any warning to the system."""
        before = self.boot_id()
        self._process.stdin.write(b"system_reset\n")
        self._process.stdin.flush()
        self._wait_for_another_start(before)

    @contextmanager
    def forwarded(self, port: int):
        """Lets a port of this machine's loopback interface lead to the same port of the machine's, as with `ssh -L`."""
        forward = ["-o", "ControlPath=none", "-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{port}:127.0.0.1:{port}"]
        command = [*self._ssh, *forward, "echo ready && cat"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tunnel:
            assert tunnel.stdout.readline() == "ready\n", f"no tunnel to port {port}"
            try:
                yield
            finally:
                tunnel.stdin.close()

    def _end_connection(self):
        """Ends the connection that all commands share."""
        words = [self._ssh[0], "-O", "exit", *self._ssh[1:]]
        subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)

    def stop(self):
        self._end_connection()
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(TIME_LIMIT_S)
