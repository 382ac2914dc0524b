"""The gateway as a process of its own, on one port over several lives, measured from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

STOP_S_MAX: Final = 30
EXPECTED: Final = "turns interrupted by the end of an earlier process"
UPKEEP: Final = {"BLOCKWIRE_UPKEEP_S": "1", "BLOCKWIRE_KEEP_CONVERSATION_MIB": "1"}
"""Merging every second, in the middle of everything; of long runs the beginning leaves, too."""

PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
PROBE: Final = Path(__file__).with_name("probe")
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """What a process has at one moment.

    Attributes:
        rss_bytes: Of memory, what SQLite has included.
        fd_count: Of descriptors.
        cpu_s: Of processors so far.
        store_bytes: The size of its store.
        sqlite_bytes: What SQLite has in memory; nearly all of it are pages of the store.
    """

    rss_bytes: int
    fd_count: int
    cpu_s: float
    store_bytes: int
    sqlite_bytes: int


def cpu_s(pid: int) -> float:
    """Return what a process has used of processors so far."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / TICKS_PER_S


class Server:
    """A gateway on a store of its own.

    Args:
        folder: Where its store and its log are.
        port: 0 picks one, which later lives keep.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.store = folder / "conversations.db"
        self.log = folder / "log.txt"
        self._sqlite = folder / "sqlite-memory"
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the life that runs."""
        assert self._process is not None, "it was started"
        return self._process.pid

    def start(self) -> None:
        """Start it, and return when it listens.

        Raises:
            RuntimeError: It did not come up; the message is what it said.
        """
        path = os.pathsep.join(filter(None, [str(PROBE), os.environ.get("PYTHONPATH")]))
        probe = {"PYTHONPATH": path, "BLOCKWIRE_SOAK_SQLITE": str(self._sqlite)}
        self._sqlite.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *[sys.executable, "-m", "blockwire", "serve", "--port", str(self.port)],
                    *["--store", f"sqlite:///{self.store}", "--engine", "external"],
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "BLOCKWIRE_CONFIG": os.devnull, **UPKEEP, **probe},
            )
        assert self._process.stdout is not None, "it was asked for"
        with self._process.stdout as said:
            line = said.readline().decode()
        if not line.startswith("listening on "):
            raise RuntimeError(self.log.read_text(encoding="utf-8"))
        self.port = int(line.rpartition(":")[2])

    def stop(self, number: signal.Signals) -> int:
        """Send a signal and return the exit status."""
        assert self._process is not None, "it was started"
        self._process.send_signal(number)
        return self._process.wait(STOP_S_MAX)

    def close(self) -> None:
        """Kill what is left."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(STOP_S_MAX)

    def usage(self) -> Usage:
        """Return what the process has now."""
        root = Path(f"/proc/{self.pid}")
        return Usage(
            int((root / "statm").read_text(encoding="utf-8").split()[1]) * PAGE_BYTES,
            len(list((root / "fd").iterdir())),
            cpu_s(self.pid),
            self.store.stat().st_size,
            self._sqlite_bytes(),
        )

    def _sqlite_bytes(self) -> int:
        try:
            return int(self._sqlite.read_text(encoding="ascii"))
        except FileNotFoundError:
            return 0  # it has only just begun

    def check(self) -> str:
        """Return what ``blockwire check`` has against the store; empty when it has nothing."""
        result = subprocess.run(
            [sys.executable, "-m", "blockwire", "check", "--store", f"sqlite:///{self.store}"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return "" if result.returncode == 0 else result.stdout + result.stderr

    def complaints(self) -> list[str]:
        """Return the lines of the log that tell of something wrong."""
        words = (" ERROR ", " WARNING ", "Traceback", "Error:", "never awaited", "never retrieved")
        return [
            line
            for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            if any(word in line for word in words) and EXPECTED not in line
        ]
