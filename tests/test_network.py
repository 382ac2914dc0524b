"""The promise of ``conftest.py``: no test can reach another machine."""

import socket

import anyio
import pytest

from tests.conftest import NetworkIsClosedError

# TEST-NET-1 and the documentation prefix of IPv6 (RFC 5737, RFC 3849): nobody is there.
FAR_IPV4 = ("192.0.2.1", 9)
FAR_IPV6 = ("2001:db8::1", 9)


@pytest.mark.parametrize("address", [FAR_IPV4, FAR_IPV6])
@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_no_socket_connects_to_another_machine(method: str, address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET

    with socket.socket(family) as sock, pytest.raises(NetworkIsClosedError):
        getattr(sock, method)(address)


def test_no_datagram_leaves_for_another_machine() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        pytest.raises(NetworkIsClosedError),
    ):
        sock.sendto(b"hello", FAR_IPV4)


@pytest.mark.parametrize("name", ["blockwire.invalid", b"blockwire.invalid"])
def test_no_name_is_looked_up(name: str | bytes) -> None:
    with pytest.raises(NetworkIsClosedError):
        socket.getaddrinfo(name, 80)


@pytest.mark.anyio
async def test_the_async_library_is_behind_the_same_door() -> None:
    with pytest.RaisesGroup(NetworkIsClosedError, flatten_subgroups=True):
        await anyio.connect_tcp(*FAR_IPV4)


def test_loopback_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = ("localhost", server.getsockname()[1])
        with socket.create_connection(address, timeout=5) as client:
            assert client.getpeername()[1] == address[1]


def test_sockets_of_the_file_system_stay_open() -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        assert sock.connect_ex("/nonexistent/socket") != 0
