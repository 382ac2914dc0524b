"""Who may do what: tokens, scopes, views, and which sites a browser may call us from.

Spec: docs/spec/gateway/auth.md.

On loopback without tokens every caller has all scopes. Once any token is configured, and on any
other bind, there is no access without one. Tokens are stored as SHA-256, compared in constant
time, and never part of a URL or a log.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import stat
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from blockwire.content import View
from blockwire.content.vocabulary import VIEWS
from blockwire.errors import LocalProtocolError, RemoteProtocolError

__all__ = [
    "SCOPES", "Auth", "Caller", "Scope", "Token", "TokenFile", "check_bind", "hash_token",
    "is_loopback", "load_token_file",
]  # fmt: skip

Scope = Literal["read", "write", "reasoning", "admin"]
SCOPES: Final[frozenset[str]] = frozenset(get_args(Scope))

TOKEN_FILE_BYTES_MAX: Final = 1_048_576
"""Bytes of a token file."""

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
# RFC 6750, section 2.1: b64token.
_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9\-._~+/]+=*)\Z", re.IGNORECASE)
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.\-_]+)(?::[0-9]{1,5})?\Z")
_TOKEN_MEMBERS: Final = frozenset({"name", "sha256", "scopes", "tenant"})


class Token(NamedTuple):
    """One token as it is stored: its hash, what it allows, and whose conversations it sees."""

    name: str
    sha256: str
    scopes: frozenset[str]
    tenant: str | None = None


class TokenFile(NamedTuple):
    """The tokens of a file, and sentences about what is wrong with how it is kept."""

    tokens: tuple[Token, ...]
    warnings: tuple[str, ...]


class Caller(NamedTuple):
    """Whoever made a request.

    Attributes:
        name: Of the token, or ``local``; limits are counted by it.
        scopes: What it may do.
        tenant: Whose conversations it sees; None sees all.
    """

    name: str
    scopes: frozenset[str]
    tenant: str | None = None

    def require(self, scope: str) -> None:
        """Raise RemoteProtocolError ``insufficient_scope`` unless the caller has ``scope``."""
        if scope not in self.scopes:
            raise RemoteProtocolError("insufficient_scope", f"the token lacks the scope {scope}")

    def view(self, asked: str | None = None) -> View:
        """Return the view of this caller: the owner's iff it has the scope ``reasoning``.

        Args:
            asked: ``public`` asks for less, ``owner`` for what the token must allow.

        Raises:
            RemoteProtocolError: ``insufficient_scope``, ``invalid_parameter``.
        """
        if asked is not None and asked not in VIEWS:
            raise RemoteProtocolError("invalid_parameter", f"view is {' or '.join(VIEWS)}")
        if asked == "owner":
            self.require("reasoning")
        return "owner" if asked != "public" and "reasoning" in self.scopes else "public"


LOCAL_CALLER: Final = Caller("local", SCOPES)


def hash_token(token: str) -> str:
    """Return what is stored of ``token``: SHA-256 of its UTF-8 bytes, hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_loopback(host: str) -> bool:
    """Return whether a server bound to ``host`` is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_bind(host: str, tokens: Sequence[Token]) -> None:
    """Refuse a bind that would let strangers in.

    Raises:
        LocalProtocolError: ``tokens_required`` for a bind that is not loopback without tokens.
    """
    if not is_loopback(host) and not tokens:
        raise LocalProtocolError(
            "tokens_required",
            f"{host} is reached from other machines: give a token file, or bind to 127.0.0.1",
        )


class Auth:
    """Decides about each request before anything else looks at it."""

    def __init__(
        self,
        tokens: Sequence[Token] = (),
        *,
        host: str = "127.0.0.1",
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
    ) -> None:
        """Take what is configured.

        Args:
            tokens: None at all on loopback means that no token is needed.
            host: The bind.
            allowed_hosts: More names under which a loopback server may be called.
            allowed_origins: Origins of pages that may call us, besides our own.

        Raises:
            LocalProtocolError: See :func:`check_bind`.
        """
        check_bind(host, tokens)
        self._tokens = tuple(tokens)
        self._checks_host = is_loopback(host)
        self._hosts = _LOOPBACK_NAMES | {host.lower()} | {name.lower() for name in allowed_hosts}
        self._origins = frozenset(origin.lower().rstrip("/") for origin in allowed_origins)

    def check_site(self, hosts: Sequence[str], origins: Sequence[str]) -> None:
        """Refuse requests that a page of another site made a browser send.

        Args:
            hosts: Values of ``Host``.
            origins: Values of ``Origin``.

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
            own = {f"http://{host}", f"https://{host}"}
            if origin.lower() not in own and origin.lower() not in self._origins:
                raise RemoteProtocolError("origin_refused", "called from a page of another site")

    def identify(self, authorizations: Sequence[str]) -> Caller:
        """Return who calls.

        Args:
            authorizations: Values of ``Authorization``.

        Raises:
            RemoteProtocolError: ``unauthorized``.
        """
        if not self._tokens:
            return LOCAL_CALLER
        bearer = _BEARER.match(authorizations[0]) if len(authorizations) == 1 else None
        if bearer is None:
            raise RemoteProtocolError("unauthorized", "send Authorization: Bearer and a token")
        presented = hash_token(bearer[1])
        found: Token | None = None
        for token in self._tokens:
            # No early way out: how long this takes says nothing about which token came close.
            if hmac.compare_digest(token.sha256, presented):
                found = token
        if found is None:
            raise RemoteProtocolError("unauthorized", "this token is not known")
        return Caller(found.name, found.scopes, found.tenant)


def load_token_file(path: Path) -> TokenFile:
    """Return the tokens in a TOML file of ``[[tokens]]`` tables.

    Each has ``name``, ``sha256`` (see :func:`hash_token`), ``scopes`` and perhaps ``tenant``.

    Raises:
        LocalProtocolError: ``invalid_token_file``, with a sentence on what to do.
    """
    try:
        with path.open("rb") as file:
            mode = path.stat().st_mode
            data = file.read(TOKEN_FILE_BYTES_MAX + 1)
        if len(data) > TOKEN_FILE_BYTES_MAX:
            raise _bad_file(path, f"is larger than {TOKEN_FILE_BYTES_MAX} bytes")
        table = tomllib.loads(data.decode())
    except OSError as error:
        raise _bad_file(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise _bad_file(path, "is not TOML") from None
    entries = table.get("tokens")
    if table.keys() != {"tokens"} or not isinstance(entries, list) or not entries:
        raise _bad_file(path, "holds [[tokens]] tables and nothing else")
    tokens = tuple(_read_token(path, index, entry) for index, entry in enumerate(entries, 1))
    if len({token.name for token in tokens}) != len(tokens):
        raise _bad_file(path, "names two tokens alike")
    warnings: tuple[str, ...] = ()
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        warnings = (f"{path} can be read by others: chmod 600 it",)
    return TokenFile(tokens, warnings)


def _read_token(path: Path, index: int, entry: Any) -> Token:
    if not isinstance(entry, dict) or not entry.keys() <= _TOKEN_MEMBERS:
        raise _bad_file(path, f"token {index}: has name, sha256, scopes and tenant, no more")
    name, digest, tenant = (entry.get(member) for member in ("name", "sha256", "tenant"))
    scopes = entry.get("scopes")
    if not isinstance(name, str) or not name.strip():
        raise _bad_file(path, f"token {index}: needs a name")
    if not isinstance(digest, str) or not _SHA256.match(digest):
        raise _bad_file(path, f"token {index}: sha256 is the hash in 64 lower-case hex digits")
    if not isinstance(scopes, list) or not scopes or not SCOPES.issuperset(map(str, scopes)):
        raise _bad_file(path, f"token {index}: scopes are some of {', '.join(sorted(SCOPES))}")
    if tenant is not None and (not isinstance(tenant, str) or not tenant.strip()):
        raise _bad_file(path, f"token {index}: tenant is a name")
    return Token(name, digest, frozenset(cast("list[str]", scopes)), tenant)


def _bad_file(path: Path, what: str) -> LocalProtocolError:
    return LocalProtocolError("invalid_token_file", f"{path} {what}")
