"""What every test gets: one async backend, a hypothesis profile, and no network but loopback."""

import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

# Cores are shared, so neither a deadline per example nor slow data generation says anything
# about our code; pytest-timeout bounds the whole test instead.
_UNTIMED: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Coverage asks whether a branch is reached, not whether it holds 300 times; and it must ask
# for the same examples each time.
settings.register_profile("cover", _UNTIMED, max_examples=40, derandomize=True)
settings.register_profile("dev", _UNTIMED, max_examples=50)
settings.register_profile("ci", _UNTIMED, max_examples=300, derandomize=True, print_blob=True)
settings.register_profile("short", _UNTIMED, max_examples=50, derandomize=True, print_blob=True)
settings.register_profile("nightly", _UNTIMED, max_examples=20_000, print_blob=True)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev")
)


# A shell that starts us in the background has SIGINT and SIGQUIT ignored, and nohup has SIGHUP, in us
# and in every program that we start; those that they should end would never do so.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Return the only backend that the product runs on; the session scope lets fixtures share it."""
    return "asyncio"


class NetworkIsClosedError(AssertionError):
    """A test reached for an address that is not on this machine."""


def _is_loopback(host: object) -> bool:
    if host in {None, "", b"", "localhost", b"localhost"}:
        return True
    text = host.decode("ascii") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def _refuse_unless_loopback(host: object) -> None:
    if not _is_loopback(host):
        raise NetworkIsClosedError(f"tests talk to loopback only, not to {host!r}")


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(sock: socket.socket, *args: Any) -> Any:
        # connect(address), connect_ex(address), sendto(data[, flags], address)
        if sock.family in {socket.AF_INET, socket.AF_INET6}:
            _refuse_unless_loopback(args[-1][0])
        return method(sock, *args)

    return call


@pytest.fixture(scope="session", autouse=True)
def _network_is_closed_except_loopback() -> Iterator[None]:
    real_getaddrinfo = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_unless_loopback(host)
        return real_getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield
