"""What every part of the SQLite store works with: one writer, a few readers."""

from __future__ import annotations

from blockwire.errors import StoreError
from blockwire.stores.sqlite.reader import ReaderPool
from blockwire.stores.sqlite.writer import Writer

__all__ = ["SqliteBase"]


class SqliteBase:
    """The threads of an open store; none while it is closed."""

    def __init__(self) -> None:
        self._writer: Writer | None = None
        self._readers: ReaderPool | None = None

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise StoreError("store_closed", "the store is not open")
        return self._writer

    def _open_readers(self) -> ReaderPool:
        if self._readers is None:
            raise StoreError("store_closed", "the store is not open")
        return self._readers
