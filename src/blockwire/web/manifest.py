"""What was built, and of what: the manifest that lies beside the built files.

Spec: docs/spec/page/index.md, "Build". ``web/page/build/manifest.mjs`` writes it; a test holds it
against the files, without Node, and the gateway serves the names in it and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json, decode_json

__all__ = [
    "INDEX_NAME", "MANIFEST_NAME", "STATIC_FOLDER", "Asset", "Manifest", "read_manifest",
]  # fmt: skip

STATIC_FOLDER: Final = "static"
"""Folder of the built files, inside of this package."""

MANIFEST_NAME: Final = "manifest.json"
"""The manifest, in that folder."""

INDEX_NAME: Final = "index.html"
"""The page itself; what else there is lies in ``assets/``."""

_ASSET: Final = re.compile(r"assets/[A-Za-z0-9_-][A-Za-z0-9_.-]*\Z")
_SOURCE: Final = re.compile(r"web(/[A-Za-z0-9_.-]+)+\Z")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")


class Asset(Struct, frozen=True):
    """One built file.

    Attributes:
        name: Relative to the folder; ``index.html`` or ``assets/NAME``.
        size_bytes: Of its content.
        sha256: Of its content, in lower-case hexadecimal.
    """

    name: str
    size_bytes: int
    sha256: str


class Manifest(Struct, frozen=True):
    """What was built, and of what.

    Attributes:
        assets: Built files by name.
        sources: SHA-256 of every file that the build reads, by path from the project's root.
    """

    assets: Mapping[str, Asset]
    sources: Mapping[str, str]


def read_manifest(data: bytes) -> Manifest:
    """Return what a manifest says.

    Raises:
        LocalProtocolError: ``page_unreadable``: it is none, or one without the page.
    """
    value = decode_json(data)
    members = value if isinstance(value, dict) else {}
    assets, sources = members.get("assets"), members.get("sources")
    if not isinstance(assets, dict) or not isinstance(sources, dict):
        raise _unreadable("it has no assets or no sources")
    read = {name: _asset(name, item) for name, item in assets.items()}
    if INDEX_NAME not in read:
        raise _unreadable(f"{INDEX_NAME} is not among its assets")
    return Manifest(
        MappingProxyType(read),
        MappingProxyType({name: _source(name, item) for name, item in sources.items()}),
    )


def _asset(name: str, value: Json) -> Asset:
    members = value if isinstance(value, dict) else {}
    size_bytes, sha256 = members.get("size_bytes"), members.get("sha256")
    if name != INDEX_NAME and not _ASSET.match(name):
        raise _unreadable(f"{name!a} is no name of an asset")
    if not isinstance(size_bytes, int) or isinstance(size_bytes, bool) or size_bytes < 0:
        raise _unreadable(f"{name} has no size")
    return Asset(name, size_bytes, _digest(name, sha256))


def _source(name: str, value: Json) -> str:
    if not _SOURCE.match(name):
        raise _unreadable(f"{name!a} is no name of a source")
    return _digest(name, value)


def _digest(name: str, value: Json) -> str:
    if not isinstance(value, str) or not _DIGEST.match(value):
        raise _unreadable(f"{name} has no digest")
    return value


def _unreadable(why: str) -> LocalProtocolError:
    return LocalProtocolError("page_unreadable", f"the manifest of the page is not good: {why}")
