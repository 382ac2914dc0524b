"""Errors of the driver to errors of the port, in one place.

Spec: docs/spec/error-codes.md, "Store and bus".
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from blockwire.errors import BlockwireError, StoreError

__all__ = ["damaged", "map_errors", "to_store_error"]

_NO_ROOM: Final = (
    "store_full",
    "the disk of the store is full, or a quota is used up; nothing of this change was stored",
    True,
)
_READONLY: Final = (
    "store_readonly",
    "the store's file or folder cannot be written by this user",
    False,
)
_DAMAGED: Final = (
    "store_corrupt",
    (
        "the store's file is damaged: stop writing, keep a copy of the file and its -wal, "
        "run a check, restore the last backup"
    ),
    False,
)

# Primary result code -> code, sentence, whether the same call may work later.
_BY_PRIMARY: Final[Mapping[int, tuple[str, str, bool]]] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: _NO_ROOM,
        sqlite3.SQLITE_READONLY: _READONLY,
        sqlite3.SQLITE_BUSY: ("store_busy", "another program holds the store's file", True),
        sqlite3.SQLITE_LOCKED: ("store_busy", "another program holds the store's file", True),
        sqlite3.SQLITE_CORRUPT: _DAMAGED,
        sqlite3.SQLITE_NOTADB: _DAMAGED,
        sqlite3.SQLITE_CONSTRAINT: (
            "store_conflict",
            "the change contradicts what is stored: two messages at one place, or the like",
            False,
        ),
        sqlite3.SQLITE_TOOBIG: ("store_full", "the change is larger than a store can hold", False),
    }
)
# Extended codes that say more than their primary one. SQLite reports a full disk as FULL; a used-up
# quota or a limit on the file's size (EDQUOT, EFBIG) comes as a failed write.
_BY_EXTENDED: Final[Mapping[int, tuple[str, str, bool]]] = MappingProxyType(
    {
        sqlite3.SQLITE_IOERR_WRITE: _NO_ROOM,
        sqlite3.SQLITE_IOERR_SHMSIZE: _NO_ROOM,
        sqlite3.SQLITE_IOERR_CORRUPTFS: _DAMAGED,
    }
)
# The lock file is opened without SQLite.
_BY_ERRNO: Final[Mapping[int, tuple[str, str, bool]]] = MappingProxyType(
    {
        errno.EACCES: _READONLY,
        errno.EPERM: _READONLY,
        errno.EROFS: _READONLY,
        errno.ENOSPC: _NO_ROOM,
        errno.EDQUOT: _NO_ROOM,
        errno.EFBIG: _NO_ROOM,
    }
)
_UNAVAILABLE: Final = ("store_unavailable", "the store's file cannot be used", True)


def to_store_error(error: BaseException) -> BlockwireError:
    """Return what the caller of a store gets for ``error``, which becomes its cause."""
    if isinstance(error, BlockwireError):
        return error
    if isinstance(error, sqlite3.ProgrammingError):
        code, sentence, retryable = "store_closed", "the store is not open", False
    elif isinstance(error, sqlite3.Error):
        # Without a code, the driver itself complains: text in the file is not UTF-8.
        extended = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        by_primary = _BY_PRIMARY.get(extended & 0xFF, _UNAVAILABLE)
        code, sentence, retryable = _BY_EXTENDED.get(extended, by_primary)
    elif isinstance(error, OSError):
        code, sentence, retryable = _BY_ERRNO.get(error.errno or 0, _UNAVAILABLE)
        if code == "store_unavailable" and error.strerror:
            sentence = f"{sentence}: {error.strerror}"
    elif isinstance(error, UnicodeEncodeError | OverflowError):
        code, sentence, retryable = "invalid_value", "a value cannot be stored", False
    else:
        code, sentence, retryable = _UNAVAILABLE
    mapped = StoreError(code, sentence, retryable=retryable)
    mapped.__cause__ = error
    return mapped


def damaged() -> StoreError:
    """Return the error for content that this store cannot have written."""
    code, sentence, retryable = _DAMAGED
    return StoreError(code, sentence, retryable=retryable)


@contextmanager
def map_errors() -> Iterator[None]:
    """Turn errors of the driver inside the block into StoreError."""
    try:
        yield
    except (sqlite3.Error, UnicodeEncodeError, OverflowError, OSError) as error:
        raise to_store_error(error) from error
