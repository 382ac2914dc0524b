"""Which store a URL names.

Spec: docs/spec/gateway/persistence.md, "Switching is one setting".
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote

from blockwire.errors import StoreError
from blockwire.ports import Faults, Store
from blockwire.stores.memory import MemoryStore
from blockwire.stores.sqlite.store import SqliteStore

__all__ = ["open_store"]

_SQLITE: Final = "sqlite:///"
_SPELLINGS: Final = (
    "sqlite:///relative/path, sqlite:////absolute/path, sqlite:///C:/path (Windows) or memory:"
)


def open_store(url: str, *, faults: Faults | None = None) -> Store:
    """Return the store that ``url`` names, not opened yet.

    Args:
        url: ``sqlite:///PATH``, PATH relative to the working folder (so an absolute one has four
            slashes; on Windows ``sqlite:///C:/path``), percent escapes decoded; or ``memory:``.
        faults: Told at fault points.

    Raises:
        StoreError: ``invalid_store_url``.
    """
    if url == "memory:":
        return MemoryStore(faults=faults)
    scheme, colon, _ = url.partition(":")
    if not colon:
        raise _invalid("a store is named by a URL")
    if scheme != "sqlite":
        raise _invalid(f"this release has no store for {scheme}:")
    if not url.startswith(_SQLITE):
        raise _invalid("three slashes come before the path")
    path, question, _ = url.removeprefix(_SQLITE).partition("?")
    if question or not path or "\x00" in unquote(path):
        raise _invalid("the URL holds a path and nothing else")
    return SqliteStore(Path(unquote(path)), faults=faults)


def _invalid(sentence: str) -> StoreError:
    return StoreError("invalid_store_url", f"{sentence}; write {_SPELLINGS}")
