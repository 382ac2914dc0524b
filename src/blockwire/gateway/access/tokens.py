"""Tokens as the gateway knows them, and the file that they may be kept in.

Spec: docs/spec/gateway/auth.md, "Tokens".
"""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from blockwire.errors import LocalProtocolError
from blockwire.gateway.access.callers import SCOPES

__all__ = ["TOKEN_NAME_PATTERN", "Token", "TokenFile", "load_token_file"]

TOKEN_FILE_BYTES_MAX: Final = 1_048_576
"""Bytes of a token file."""

TOKEN_NAME_PATTERN: Final = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"  # noqa: S105 - a pattern
"""Names of tokens and tenants that the gateway makes: they stand in paths and tables."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
_TOKEN_MEMBERS: Final = frozenset({"name", "sha256", "scopes", "tenant"})


class Token(NamedTuple):
    """One token: its hash, what it allows, and whose conversations it sees."""

    name: str
    sha256: str
    scopes: frozenset[str]
    tenant: str | None = None
    expires_at: int | None = None


class TokenFile(NamedTuple):
    """The tokens of a file, and sentences about what is wrong with how it is kept."""

    tokens: tuple[Token, ...]
    warnings: tuple[str, ...]


def load_token_file(path: Path) -> TokenFile:
    """Return the tokens in a TOML file of ``[[tokens]]`` tables.

    Each has ``name``, ``sha256`` (see :func:`~blockwire.gateway.access.credentials.hash_token`), ``scopes`` and perhaps ``tenant``.

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
