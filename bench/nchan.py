"""nchan, the peer of the fan-out: Debian's nginx with a configuration of its own.

Installed by ``make bench`` where it is missing and may be (root on Debian); the system's service is
never started. Everything of it lies in a temporary folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from bench.processes import STOP_S_MAX, free_port, wait_listening

__all__ = ["Nchan", "install_nchan", "serving_nchan"]

MODULE: Final = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
POLICY: Final = Path("/usr/sbin/policy-rc.d")
INSTALL_S_MAX: Final = 180

_CONFIGURATION: Final = """
load_module {module};
daemon off;
master_process on;
worker_processes 1;
worker_rlimit_nofile 20000;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 16000; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  nchan_shared_memory_size 256M;
  keepalive_requests 10000000;
  tcp_nodelay on;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location = /pub {{ nchan_publisher; nchan_channel_id $arg_id; nchan_message_buffer_length 100; }}
    location = /sub {{
      nchan_subscriber eventsource; nchan_channel_id $arg_id;
      nchan_subscriber_first_message newest;
    }}
  }}
}}
"""


class Nchan(Struct, frozen=True):
    """An nginx that listens: its port, and the process that does the work."""

    port: int
    pids: tuple[int, ...]


def install_nchan() -> bool:
    """Install nginx and nchan unless they are there; return whether they are now."""
    if shutil.which("nginx") and MODULE.exists():
        return True
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    # Packages of services start them; this file is how Debian lets one say no.
    is_ours = not POLICY.exists()
    if is_ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "nginx",
             "libnginx-mod-nchan"],
        ):  # fmt: skip
            with suppress(subprocess.SubprocessError):
                subprocess.run(
                    command, check=True, capture_output=True, timeout=INSTALL_S_MAX,
                    env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                )  # fmt: skip
    finally:
        if is_ours:
            POLICY.unlink()
    return bool(shutil.which("nginx")) and MODULE.exists()


@contextmanager
def serving_nchan() -> Iterator[Nchan]:
    """Run nginx with one worker."""
    with tempfile.TemporaryDirectory(prefix="bench-nchan-") as folder:
        # The worker runs as another user.
        Path(folder).chmod(0o755)
        port = free_port()
        path = Path(folder) / "nginx.conf"
        path.write_text(_CONFIGURATION.format(module=MODULE, folder=folder, port=port))
        process = subprocess.Popen(["nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", path])
        try:
            wait_listening(port)
            yield Nchan(port, (process.pid, *_children(process.pid)))
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _children(pid: int) -> tuple[int, ...]:
    ends_at_s = time.monotonic() + STOP_S_MAX
    while time.monotonic() < ends_at_s:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
        if text:
            return tuple(map(int, text.split()))
        time.sleep(0.02)
    raise TimeoutError("nginx started no worker")
