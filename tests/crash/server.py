"""The gateway under test as its own process, started and killed without mercy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

FAULT_VARIABLE: Final = "BLOCKWIRE_CRASH_AT"
START_S_MAX: Final = 30
SETTINGS: Final = {"BLOCKWIRE_CONFIG": os.devnull, "BLOCKWIRE_UPKEEP_S": "1"}


class Server:
    """One life of a gateway on a store.

    Args:
        store: File of the store.
        crash_at: ``POINT:N``, or empty.
        is_reversed: Run the build that publishes before it commits.
    """

    def __init__(self, store: Path, *, crash_at: str = "", is_reversed: bool = False) -> None:
        module = (
            [str(Path(__file__).with_name("reversed_server.py"))]
            if is_reversed
            else ["-m", "blockwire"]
        )
        self.process = subprocess.Popen(
            [sys.executable, *module, "serve", "--port", "0", "--store", f"sqlite:///{store}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, FAULT_VARIABLE: crash_at, **SETTINGS},
        )
        self.url = ""

    def wait_listening(self) -> bool:
        """Return whether it came up; False when it died before."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        if not line.startswith("listening on "):
            self.process.wait(timeout=START_S_MAX)
            return False
        self.url = line.removeprefix("listening on ").strip()
        return True

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def kill(self) -> None:
        """End it as a power cut would end the process."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)

    def wait_dead(self, timeout_s: float) -> bool:
        """Return whether it is dead within ``timeout_s``."""
        try:
            self.process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> str:
        """Kill what is left; return what it said on standard error."""
        self.kill()
        _, errors = self.process.communicate()
        return errors.decode(errors="replace")
