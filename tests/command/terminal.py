#!/usr/bin/env python3
"""`cove exec --tty` and `cove attach` at a terminal, as a person sits at one.

Usage: terminal.py COVE_COMMAND
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from typing import Callable, List, Optional

LONGEST = 60.0  # seconds until something must have come

ANA = ["--app", "demo", "--user", "ana"]


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, arguments: List[str], rows: int = 31, columns: int = 97) -> None:
        self.seen = b""
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.master)
            os.login_tty(self.slave)
            os.execv(arguments[0], arguments)

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, pattern: bytes) -> None:
        """Waits until what was shown matches, from where the last wait ended."""
        until = time.monotonic() + LONGEST
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end() :]
                return
            left = until - time.monotonic()
            ready = select.select([self.master], [], [], max(left, 0))[0]
            if not ready:
                raise AssertionError(f"wanted {pattern!r}, saw {self.seen!r}")
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                raise AssertionError(f"wanted {pattern!r}, saw {self.seen!r} and the end") from None

    def is_raw(self) -> bool:
        flags = termios.tcgetattr(self.slave)[3]
        return not flags & (termios.ICANON | termios.ECHO)

    def wait_raw(self) -> None:
        until = time.monotonic() + LONGEST
        while not self.is_raw():
            assert time.monotonic() < until, "the terminal never became raw"
            time.sleep(0.01)

    def end(self) -> int:
        """The exit code; the terminal must be as it was before."""
        _, status = os.waitpid(self.pid, 0)
        assert not self.is_raw(), "the terminal was left raw"
        os.close(self.master)
        os.close(self.slave)
        return os.waitstatus_to_exitcode(status)


def expect(code: int, wanted: int) -> None:
    assert code == wanted, f"exit code {code}, wanted {wanted}"


def size_and_input(cove: str) -> None:
    """the command has a terminal of the window's size, and what is typed reaches it"""
    line = "test -t 0 && test -t 1 && stty size; read word; echo got $word; exit 7"
    at = Terminal([cove, "exec", *ANA, "-t", "--", "sh", "-c", line])
    at.wait_for(rb"31 97\r\n")
    at.type(b"hello\r")
    at.wait_for(rb"got hello\r\n")
    expect(at.end(), 7)


def ctrl_c(cove: str) -> None:
    """Ctrl-C goes to the command, and the code is 130"""
    at = Terminal([cove, "exec", *ANA, "-t", "--", "sh", "-c", "echo ready; exec sleep 1000"])
    at.wait_for(rb"ready\r\n")
    at.type(b"\x03")
    expect(at.end(), 130)


def ctrl_c_without_tty(cove: str) -> None:
    """without --tty Ctrl-C ends the command inside, and the code is 130"""
    at = Terminal([cove, "exec", *ANA, "--", "sh", "-c", "echo ready; exec sleep 1000"])
    at.wait_for(rb"ready")
    at.type(b"\x03")
    expect(at.end(), 130)


def window_follows(cove: str) -> None:
    """a new size of the window is told to the command"""
    # Its own trap: a shell whose child ended well just then passes by a Ctrl-C.
    line = "trap 'stty size' WINCH; trap 'exit 130' INT; echo ready; while :; do sleep 0.05; done"
    at = Terminal([cove, "exec", *ANA, "-t", "--", "sh", "-c", line])
    at.wait_for(rb"ready\r\n")
    at.resize(40, 120)
    at.wait_for(rb"40 120\r\n")
    at.type(b"\x03")
    expect(at.end(), 130)


def killed(cove: str) -> None:
    """the terminal is itself again where this program is told to end, once and twice"""
    for times in (1, 2):
        line = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
        at = Terminal([cove, "exec", *ANA, "-t", "--", "sh", "-c", line])
        at.wait_for(rb"ready\r\n")
        at.wait_raw()
        for _ in range(times):
            os.kill(at.pid, signal.SIGTERM)
        expect(at.end(), 143)


def attach(cove: str) -> None:
    """a detached shell can be typed to, let go of, and found running"""
    started = subprocess.run(
        [cove, "exec", *ANA, "-d", "-t", "--name", "shell", "--", "sh"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"[0-9a-f]{32}\n", started.stdout), started.stdout
    at = Terminal([cove, "attach", *ANA, "shell"])
    at.wait_raw()
    at.type(b"echo $((40 + 2))\r")
    at.wait_for(rb"42\r\n")
    at.type(b"\x10\x11")
    at.wait_for(rb"it goes on")
    expect(at.end(), 0)
    listed = subprocess.run([cove, "ps", *ANA], capture_output=True, text=True, check=True).stdout
    assert re.search(r"running .* shell ", listed), listed
    subprocess.run([cove, "kill", *ANA, "--forget", "shell"], check=True, capture_output=True)
    listed = subprocess.run([cove, "ps", *ANA], capture_output=True, text=True, check=True).stdout
    assert listed == "", listed


CASES: List[Callable[[str], None]] = [
    size_and_input,
    ctrl_c,
    ctrl_c_without_tty,
    window_follows,
    killed,
    attach,
]


def main() -> int:
    cove = sys.argv[1]
    only: Optional[str] = sys.argv[2] if len(sys.argv) > 2 else None
    home = tempfile.mkdtemp()
    os.environ["COVE_HOME"] = home
    failures = 0
    try:
        for case in CASES:
            if only and case.__name__ != only:
                continue
            try:
                case(cove)
                print(f"ok: {case.__doc__}", flush=True)
            except AssertionError as error:
                failures += 1
                print(f"FAILED: {case.__doc__}\n  {error}", flush=True)
    finally:
        subprocess.run([cove, "destroy", *ANA, "--yes"], capture_output=True, check=False)
        shutil.rmtree(home, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
