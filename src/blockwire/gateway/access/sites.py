"""Which names we answer to, which pages may call us, and who stands behind a proxy.

Spec: docs/spec/gateway/auth.md, "Other sites". A page of another site can make a browser send
requests to us, also to a gateway on loopback; a name can be made to resolve to this machine.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import Final

from blockwire.errors import LocalProtocolError, RemoteProtocolError

__all__ = ["ANY_ORIGIN", "PREFLIGHT_S", "Sites", "is_loopback"]

ANY_ORIGIN: Final = "*"
"""In ``allowed_origins``: any page may call, with a token of its own."""

PREFLIGHT_S: Final = 600
"""Seconds for which a browser may remember what a preflight said."""

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.\-_]+)(?::([0-9]{1,5}))?\Z")
_READ_HEADERS: Final = "blockwire-epoch, blockwire-protocol, etag, location, retry-after"
_SENT_HEADERS: Final = (
    "authorization, blockwire-epoch, blockwire-protocol, content-type, idempotency-key, "
    "if-none-match, last-event-id, range"
)
_SAME_SITE: Final = frozenset({"same-origin", "none"})

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_loopback(host: str) -> bool:
    """Return whether a server bound to ``host`` is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Sites:
    """Decides about the sites that a request comes from and goes to.

    Args:
        host: The bind.
        allowed_hosts: Names under which the gateway may be called; without any, a bind that is
            not loopback answers to every name.
        allowed_origins: Origins of pages that may call us, besides our own; they get CORS headers.
        trusted_proxies: Addresses or networks whose word on who they pass on is taken.

    Raises:
        LocalProtocolError: ``invalid_config``.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        trusted_proxies: Iterable[str] = (),
    ) -> None:
        names = {name.lower() for name in allowed_hosts}
        self.is_loopback = is_loopback(host)
        self._checks_host = self.is_loopback or bool(names)
        self._hosts = names | _LOOPBACK_NAMES | {host.lower()}
        self._origins = frozenset(origin.lower().rstrip("/") for origin in allowed_origins)
        self._proxies = tuple(_network(text) for text in trusted_proxies)

    # hosts and origins --------------------------------------------------------------------
    def check(self, hosts: Sequence[str], origins: Sequence[str], *, is_open: bool) -> None:
        """Refuse requests that a page of another site made a browser send.

        Args:
            hosts: Values of ``Host``.
            origins: Values of ``Origin``.
            is_open: Whether nobody needs a token; then "any page" lets no page in.

        Raises:
            RemoteProtocolError: ``host_refused``, ``origin_refused``.
        """
        host = hosts[0].lower() if len(hosts) == 1 else ""
        if self._checks_host:
            name = _HOST.match(host)
            if name is None or name[1] not in self._hosts:
                # A name that resolves to this machine is how DNS rebinding gets here.
                raise RemoteProtocolError("host_refused", "not called by one of its own names")
        for origin in origins:
            if not (_is_own(origin, host) or self._allows(origin, is_open=is_open)):
                raise RemoteProtocolError("origin_refused", "called from a page of another site")

    def check_cookie(
        self, hosts: Sequence[str], origins: Sequence[str], fetch_sites: Sequence[str]
    ) -> None:
        """Refuse a cookie that a page of another origin made a browser send.

        Args:
            hosts: Values of ``Host``.
            origins: Values of ``Origin``.
            fetch_sites: Values of ``Sec-Fetch-Site``, by which a browser says where a request
                comes from; pages of other ports of this machine are the "same site".

        Raises:
            RemoteProtocolError: ``origin_refused``.
        """
        host = hosts[0].lower() if len(hosts) == 1 else ""
        is_own = all(_is_own(origin, host) for origin in origins)
        if not is_own or not _SAME_SITE.issuperset(fetch_sites):
            raise RemoteProtocolError("origin_refused", "a cookie counts on our own pages only")

    def _allows(self, origin: str, *, is_open: bool) -> bool:
        if origin.lower() in self._origins:
            return True
        return ANY_ORIGIN in self._origins and not is_open and origin != ""

    def cors_headers(
        self, hosts: Sequence[str], origins: Sequence[str], *, is_preflight: bool
    ) -> list[tuple[bytes, bytes]]:
        """Return the headers that let a page of a configured origin read the answer.

        Nothing for our own pages and for strangers. Credentials are never allowed: a page of
        another origin sends a token, and no cookie of ours.

        Args:
            hosts: Values of ``Host``.
            origins: Values of ``Origin``.
            is_preflight: Whether a browser asks what it may ask.
        """
        if not self._origins:
            return []
        headers = [(b"vary", b"origin")]
        if len(origins) != 1 or _is_own(origins[0], hosts[0].lower() if hosts else ""):
            return headers
        if not self._allows(origins[0], is_open=False):
            return headers
        headers.append((b"access-control-allow-origin", origins[0].encode("latin-1")))
        if is_preflight:
            headers += [
                (b"access-control-allow-methods", b"GET, HEAD, POST, PATCH, DELETE"),
                (b"access-control-allow-headers", _SENT_HEADERS.encode()),
                (b"access-control-max-age", str(PREFLIGHT_S).encode()),
            ]
        else:
            headers.append((b"access-control-expose-headers", _READ_HEADERS.encode()))
        return headers

    # proxies ------------------------------------------------------------------------------
    def client_address(self, peer: str, forwarded_for: Sequence[str]) -> str:
        """Return who asks: the peer, or whom the last trusted proxy names.

        Args:
            peer: Address of the connection.
            forwarded_for: Values of ``X-Forwarded-For``; whoever is not trusted may have written
                what stands on the left.
        """
        address = peer
        hops = [hop.strip() for value in forwarded_for for hop in value.split(",")]
        while hops and self._trusts(address):
            try:
                address = str(ipaddress.ip_address(hops.pop().strip("[]")))
            except ValueError:
                break
        return address

    def _trusts(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)


def _is_own(origin: str, host: str) -> bool:
    return bool(host) and origin.lower() in {f"http://{host}", f"https://{host}"}


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        detail = f"trusted_proxies: {text!a} is no address or network, such as 10.0.0.0/8"
        raise LocalProtocolError("invalid_config", detail) from None
