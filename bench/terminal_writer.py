"""What runs in a terminal that is measured: ``python -m bench.terminal_writer FILE RESULT``.

It writes FILE, then asks what every terminal answers, and waits for that: terminals answer in order, so
all was read by then. RESULT gets the seconds, and the processor time of our parent, who runs the terminal.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import tty
from pathlib import Path
from typing import Final

from bench.processes import cpu_s

_DA1_REQUEST: Final = b"\x1b[c"
_DA1_REPLY: Final = re.compile(rb"\x1b\[\?[0-9;]*c")
_READ_BYTES: Final = 4_096


def main() -> None:
    """Write, wait, and tell."""
    data = Path(sys.argv[1]).read_bytes()
    terminal_pid = os.getppid()
    tty.setraw(0)
    _ask()
    started_cpu_s, started_s = cpu_s(terminal_pid), time.monotonic()
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
    _ask()
    spent = {"s": time.monotonic() - started_s, "cpu_s": cpu_s(terminal_pid) - started_cpu_s}
    Path(sys.argv[2]).write_text(json.dumps(spent), "utf-8")


def _ask() -> None:
    os.write(1, _DA1_REQUEST)
    heard = b""
    while not _DA1_REPLY.search(heard):
        heard += os.read(0, _READ_BYTES)


if __name__ == "__main__":
    main()
