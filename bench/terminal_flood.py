"""How fast the host takes in what a program writes: beside the bare emulator, and beside tmux.

In one process, on the same bytes: the host's session with frames as often as it may draw them, and the
library that reads its program's screen, which draws nothing and keeps no history. And as programs: the whole
``blockwire term`` and tmux, each in a terminal of its own that takes all that they draw.
"""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

from msgspec import Struct

from bench.processes import ROOT
from bench.terminal_answer import COLUMNS, ROWS
from bench.terminal_text import blocks_flood, plain_flood, sgr_flood
from blockwire.host.core import HostCore
from blockwire.host.driver import FRAME_S
from blockwire.host.emulator import best_emulator
from blockwire.host.options import HostOptions

__all__ = ["FloodRates", "floods", "has_tmux", "measure_floods"]

READ_BYTES: Final = 16_384
"""What the driver gets at a time of a program that writes all the time: some reads of a pty."""

IDLE_EVERY_S: Final = 0.25
"""How often the driver does what can wait while a program writes all the time."""

PROGRAM_S_MAX: Final = 60.0
END_S_MAX: Final = 5.0

_MB: Final = 1e6


class FloodRates(Struct, frozen=True, kw_only=True):
    """Megabytes of output a second of processor time.

    Attributes:
        core: The host's session, in this process.
        library: The bare library, in this process; None without it.
        term: ``blockwire term`` as a program: its host.
        tmux: tmux as a program: its server; None without it.
        term_wall: As ``term``, by the clock on the wall.
        tmux_wall: As ``tmux``, by the clock on the wall.
    """

    core: float
    library: float | None
    term: float
    tmux: float | None
    term_wall: float
    tmux_wall: float | None


def has_tmux() -> bool:
    """Tell whether there is a tmux."""
    return shutil.which("tmux") is not None


def floods(size_bytes: int) -> Mapping[str, bytes]:
    """Return what is written: name to bytes."""
    return {
        "plain": plain_flood(size_bytes),
        "SGR-heavy": sgr_flood(size_bytes),
        "Block-heavy": blocks_flood(size_bytes, "context_1"),
    }


def measure_floods(data: bytes, rounds: int) -> FloodRates:
    """Return the best of some rounds of each."""
    core_s = min(_core_s(data) for _ in range(rounds))
    library_s = min(
        (it for _ in range(rounds) if (it := _library_s(data)) is not None), default=None
    )
    term = [_run_program(_term_command, data) for _ in range(rounds)]
    tmux = [_run_program(_tmux_command, data) for _ in range(rounds)] if has_tmux() else []
    size_mb = len(data) / _MB
    return FloodRates(
        core=size_mb / core_s,
        library=size_mb / library_s if library_s else None,
        term=size_mb / min(it["cpu_s"] for it in term),
        tmux=size_mb / min(it["cpu_s"] for it in tmux) if tmux else None,
        term_wall=size_mb / min(it["s"] for it in term),
        tmux_wall=size_mb / min(it["s"] for it in tmux) if tmux else None,
    )


def _reads(data: bytes) -> list[bytes]:
    return [data[start : start + READ_BYTES] for start in range(0, len(data), READ_BYTES)]


def _core_s(data: bytes) -> float:
    core = HostCore(COLUMNS, ROWS, best_emulator(COLUMNS, ROWS), HostOptions())
    reads = _reads(data)
    started_s = time.process_time()
    frame_at_s, idle_at_s = started_s + FRAME_S, started_s + IDLE_EVERY_S
    for read in reads:
        core.receive_output(read, 0.0)
        core.data_for_program()
        now_s = time.process_time()
        if now_s >= frame_at_s:
            core.paint()
            frame_at_s = now_s + FRAME_S
        if now_s >= idle_at_s:
            core.idle()
            idle_at_s = now_s + IDLE_EVERY_S
    core.paint()
    return time.process_time() - started_s


def _library_s(data: bytes) -> float | None:
    try:
        library = import_module("pyghostty")
    except (ImportError, OSError):
        return None
    terminal = library.Terminal(COLUMNS, ROWS)
    reads = _reads(data)
    started_s = time.process_time()
    for read in reads:
        terminal.feed(read)
    return time.process_time() - started_s


def _term_command(inner: Sequence[str], _folder: Path) -> list[str]:
    options = ["--no-transcript", "--no-mouse"]
    return [sys.executable, "-m", "blockwire", "term", *options, "--", *inner]


def _tmux(folder: Path) -> list[str]:
    """Return the command of a tmux that has nothing to do with anybody else's."""
    return ["tmux", "-S", str(folder / "socket"), "-f", os.devnull]


def _tmux_command(inner: Sequence[str], folder: Path) -> list[str]:
    return [
        *_tmux(folder),
        "new-session",
        "-x",
        str(COLUMNS),
        "-y",
        str(ROWS),
        f"exec {shlex.join(inner)}",
    ]


@contextmanager
def _in_terminal(command: Sequence[str]) -> Iterator[int]:
    """Run a program in a pty of its own; it is dead in the end."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"TMUX", "STY", "NO_COLOR"}
    }
    environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe(command[0], [*command], environment)
    try:
        yield fd
    finally:
        # Its terminal is gone: whoever is left in it is hung up on.
        os.close(fd)
        _see_dead(pid)


def _see_dead(pid: int) -> None:
    ends_at_s = time.monotonic() + END_S_MAX
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > ends_at_s:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(0.01)


def _run_program(make: Callable[[Sequence[str], Path], list[str]], data: bytes) -> dict[str, float]:
    """Let a terminal read ``data``; return the seconds, and those of its processor time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, result = folder / "data", folder / "result"
        source.write_bytes(data)
        inner = [sys.executable, "-m", "bench.terminal_writer", str(source), str(result)]
        with _in_terminal(make(inner, folder)) as fd:
            _drain(fd)
        if not result.exists():
            if make is _tmux_command:
                # Its server outlives every client as long as something runs in it.
                subprocess.run([*_tmux(folder), "kill-server"], check=False)
            raise TimeoutError(f"{make.__name__} has not read all within {PROGRAM_S_MAX} s")
        spent: dict[str, float] = json.loads(result.read_text("utf-8"))  # noqa: TID251 - ours
        return spent


def _drain(fd: int) -> None:
    """Take what a program draws, and answer what it asks of its terminal, until it has ended."""
    ends_at_s = time.monotonic() + PROGRAM_S_MAX
    while time.monotonic() < ends_at_s:
        if not select.select([fd], [], [], 1.0)[0]:
            continue
        try:
            data = os.read(fd, 65_536)
        except OSError:
            # Linux says EIO when nobody has the far end open any more.
            return
        if not data:
            return
        if b"\x1b[c" in data:
            os.write(fd, b"\x1b[?62;22c")
