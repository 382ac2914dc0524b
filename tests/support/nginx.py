"""A real nginx in front of a gateway, with the configuration of the how-to or another one."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest

from tests.support.programs import WAIT_S

__all__ = ["Nginx", "documented_server", "needs_nginx"]

_PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "nginx.md"
_BLOCK: Final = re.compile(r"```nginx\n(.*?)```", re.DOTALL)

needs_nginx = pytest.mark.skipif(
    shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None
    and not os.environ.get("CI"),
    reason="nginx is not installed",
)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def documented_server(*, port: int, gateway_port: int) -> str:
    """Return the ``server`` of the how-to page, without TLS and for these ports."""
    found = _BLOCK.search(_PAGE.read_text("utf-8"))
    assert found is not None, "the page shows a configuration"
    text = found[1]
    assert "listen 443 ssl;" in text
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    assert "http://127.0.0.1:7890;" in text
    return text.replace("http://127.0.0.1:7890;", f"http://127.0.0.1:{gateway_port};")


class Nginx:
    """nginx in the foreground of a process of its own.

    Args:
        folder: For its configuration, logs and temporary files.
        server: The ``server`` blocks.
        port: What it listens on, once it is ready.
    """

    def __init__(self, folder: Path, server: str, port: int) -> None:
        self.port = port
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        assert program is not None, "CI installs it"
        folder.mkdir(parents=True, exist_ok=True)
        temporary = "\n".join(
            f"{kind}_temp_path {folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.getuid() == 0 else ""
        config = folder / "nginx.conf"
        config.write_text(
            f"daemon off;\nmaster_process off;\nworker_processes 1;\n{user}\n"
            f"pid {folder}/pid;\nerror_log {folder}/error.log;\n"
            f"events {{ worker_connections 256; }}\n"
            f"http {{\naccess_log off;\n{temporary}\n{server}\n}}\n",
            encoding="utf-8",
        )
        self.process = subprocess.Popen(
            [program, "-p", str(folder), "-c", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _wait(self) -> None:
        """Return once it takes connections; each try is an answer of the kernel, not a pause."""
        while self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
        assert self.process.stderr is not None
        raise AssertionError(self.process.stderr.read().decode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self.process.communicate(timeout=WAIT_S)
