"""Secrets that the gateway gives out: how they look, and what is kept of them.

Spec: docs/spec/gateway/auth.md, "Secrets".

A secret is a prefix that says what it is for, 256 random bits, and a checksum, so that one that was
cut or mistyped is told from one that is not known, and scanners find those that were published.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

__all__ = [
    "SECRET_PREFIXES",
    "SecretKind",
    "hash_token",
    "is_mistyped",
    "new_secret",
    "secret_kind",
]

SecretKind = Literal["token", "login", "ticket", "share"]

SECRET_PREFIXES: Final[Mapping[SecretKind, str]] = MappingProxyType(
    {"token": "bw_", "login": "bwl_", "ticket": "bwt_", "share": "bws_"}
)

SECRET_BYTES: Final = 32
"""Random bytes of a secret."""

_SHAPE: Final = re.compile(r"(bw[lts]?_)[A-Za-z0-9_-]{49}\Z")
_KIND_BY_PREFIX: Final = {prefix: kind for kind, prefix in SECRET_PREFIXES.items()}
_CHECK_CHARS: Final = 6


def new_secret(kind: SecretKind) -> str:
    """Return a fresh secret."""
    text = SECRET_PREFIXES[kind] + _encode(secrets.token_bytes(SECRET_BYTES))
    return text + _checksum(text)


def secret_kind(secret: str) -> SecretKind | None:
    """Return what ``secret`` is for; None when it is none of ours, or not whole."""
    match = _SHAPE.match(secret)
    if match is None or _checksum(secret[:-_CHECK_CHARS]) != secret[-_CHECK_CHARS:]:
        return None
    return _KIND_BY_PREFIX[match[1]]


def is_mistyped(secret: str) -> bool:
    """Return whether ``secret`` begins as one of ours does and is not whole."""
    return secret.startswith(tuple(_KIND_BY_PREFIX)) and secret_kind(secret) is None


def hash_token(secret: str) -> str:
    """Return what is kept of ``secret``: SHA-256 of its UTF-8 bytes, hexadecimal.

    256 random bits need no salt and no slow hash: there is nothing to guess.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(text: str) -> str:
    return _encode(zlib.crc32(text.encode()).to_bytes(4, "big"))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
