"""What a service manager is told: systemd's notification protocol, without its library.

Spec: docs/spec/gateway/operations.md, "Service managers". One datagram a message, to the socket that
``NOTIFY_SOCKET`` names; without it nothing is sent. A manager that does not listen is no reason to fail.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Final

__all__ = ["ServiceManager"]

STATUS_CHARS_MAX: Final = 200


class ServiceManager:
    """The manager that started this process, if any.

    Args:
        env: The environment; taken out of it, so that no program of ours speaks for us.
    """

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        given = os.environ if env is None else env
        self._address = _address(given.get("NOTIFY_SOCKET", ""))
        self._watchdog_s = _watchdog_s(given)
        if env is None:
            for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):
                os.environ.pop(name, None)

    @property
    def watchdog_period_s(self) -> float | None:
        """How often :meth:`beat` is to be called; None where nobody waits for it."""
        return None if self._watchdog_s is None else self._watchdog_s / 2

    def ready(self, status: str) -> None:
        """The service answers now; also at the end of a reload."""
        self._send("READY=1", f"STATUS={status[:STATUS_CHARS_MAX]}")

    def reloading(self) -> None:
        """The configuration is read again; :meth:`ready` follows."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The service has begun to end."""
        self._send("STOPPING=1", "STATUS=turns and streams end")

    def beat(self) -> None:
        """The service is alive."""
        self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> None:
        if self._address is None:
            return
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender,
        ):
            # A manager that is busy must not hold up a gateway.
            sender.setblocking(False)  # noqa: FBT003 - the signature of sockets
            text = "\n".join(line.replace("\n", " ") for line in lines)
            sender.sendto(text.encode(), self._address)


def _address(name: str) -> str | bytes | None:
    if not hasattr(socket, "AF_UNIX") or name[:1] not in {"/", "@"}:
        return None
    # An abstract name begins with NUL where its text begins with @.
    return b"\0" + os.fsencode(name[1:]) if name.startswith("@") else name


def _watchdog_s(env: Mapping[str, str]) -> float | None:
    text, pid = env.get("WATCHDOG_USEC", ""), env.get("WATCHDOG_PID", "")
    if not (text.isascii() and text.isdecimal()) or int(text[:18]) == 0:
        return None
    if pid and pid != str(os.getpid()):
        return None
    return int(text[:18]) / 1_000_000
