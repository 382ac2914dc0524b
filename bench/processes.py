"""Processes of a benchmark: started, measured from outside, and always stopped."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = [
    "ROOT",
    "cpu_s",
    "free_port",
    "raise_file_limit",
    "rss_bytes",
    "running",
    "wait_listening",
]

ROOT: Final = Path(__file__).resolve().parents[1]

STOP_S_MAX: Final = 10.0
LISTEN_S_MAX: Final = 20.0
ERRORS_SHOWN_CHARS: Final = 4_000
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


def raise_file_limit() -> None:
    """Allow as many open files as the system lets us; processes started from here inherit it."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def cpu_s(*pids: int) -> float:
    """Return the processor time that the processes have used, in user and system mode."""
    ticks = 0
    for pid in pids:
        # The name of the program may hold blanks and parentheses; the fields follow the last one.
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S


def rss_bytes(*pids: int) -> int:
    """Return the memory that the processes have to themselves, in bytes."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith(("Private_Clean:", "Private_Dirty:")):
                total += int(line.split()[1]) * 1024
    return total


def free_port() -> int:
    """Return a port of the loopback that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_listening(port: int) -> None:
    """Return once somebody accepts connections on ``port``.

    Raises:
        TimeoutError: Nobody did for :data:`LISTEN_S_MAX` seconds.
    """
    ends_at_s = time.monotonic() + LISTEN_S_MAX
    while time.monotonic() < ends_at_s:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nobody listens on port {port}")


@contextmanager
def running(
    arguments: Sequence[str],
    *,
    speaks: bool = False,
    environment: dict[str, str] | None = None,
    errors: Path | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the block ends.

    Args:
        arguments: The program; ``python`` stands for this interpreter.
        speaks: Whether stdin and stdout are pipes.
        environment: Additional variables.
        errors: Where its stderr goes, to be shown only if the block fails.
    """
    command = [sys.executable if part == "python" else part for part in arguments]
    sink = None if errors is None else errors.open("wb")
    pipe = subprocess.PIPE if speaks else subprocess.DEVNULL
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=sink, text=True, encoding="utf-8", cwd=ROOT, bufsize=1,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    try:
        yield process
    except BaseException:
        if errors is not None:
            print(errors.read_text("utf-8", "replace")[-ERRORS_SHOWN_CHARS:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        try:
            process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, sink):
            if stream is not None:
                stream.close()
