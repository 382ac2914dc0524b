"""What a service manager hears, on a real socket."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from blockwire.cli.notify import ServiceManager


@pytest.fixture(params=["path", "abstract"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "path":
        return str(tmp_path / "notify")
    return f"@blockwire-test-{os.getpid()}-{id(request)}"


@pytest.fixture
def listener(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        sock.settimeout(5)
        yield sock


@pytest.mark.requirement("gateway:operations:notify")
def test_a_manager_hears_of_start_reload_and_stop(address: str, listener: socket.socket) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": address})

    manager.ready("listening on http://127.0.0.1:1\nX=1")
    manager.reloading()
    manager.stopping()
    manager.beat()

    said = [listener.recv(4096).decode().split("\n") for _ in range(4)]
    assert said[0] == ["READY=1", "STATUS=listening on http://127.0.0.1:1 X=1"]
    assert said[1][0] == "RELOADING=1"
    assert said[1][1].startswith("MONOTONIC_USEC=")
    assert said[2][0] == "STOPPING=1"
    assert said[3] == ["WATCHDOG=1"]


@pytest.mark.parametrize("address", ["", "relative", "/no/such/socket"])
def test_without_a_manager_nothing_fails(address: str) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": address})

    manager.ready("x")
    manager.stopping()


def test_a_manager_that_does_not_read_holds_nobody_up(
    address: str, listener: socket.socket
) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": address})

    for _ in range(10_000):
        manager.beat()

    assert listener.recv(4096) == b"WATCHDOG=1"


WATCHDOGS: list[tuple[dict[str, str], float | None]] = [
    ({}, None),
    ({"WATCHDOG_USEC": "30000000"}, 15.0),
    ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 15.0),
    ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
    ({"WATCHDOG_USEC": "0"}, None),
    ({"WATCHDOG_USEC": "soon"}, None),
]


@pytest.mark.parametrize(("env", "period_s"), WATCHDOGS)
def test_a_watchdog_is_heard_twice_within_its_patience(
    env: dict[str, str], period_s: float | None
) -> None:
    assert ServiceManager(env).watchdog_period_s == period_s


def test_programs_of_ours_cannot_speak_for_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/x")
    monkeypatch.setenv("WATCHDOG_USEC", "1000000")

    assert ServiceManager().watchdog_period_s == 0.5

    assert "NOTIFY_SOCKET" not in os.environ
    assert "WATCHDOG_USEC" not in os.environ
