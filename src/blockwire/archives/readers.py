"""What readers of foreign histories have in common: items of an array, or lines, one by one.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TypeVar

from blockwire.archives.drafting import History
from blockwire.archives.pieces import JsonItems
from blockwire.archives.report import HistoryError, Report
from blockwire.archives.splitter import LineSplitter
from blockwire.archives.values import decode_item
from blockwire.jsontext import Json, pointer

__all__ = ["ItemsReader", "LinesReader"]

_T = TypeVar("_T")


class _Reader:
    """A reader of one file.

    Args:
        report: Where to tell what was met.
        item_bytes_max: Of one conversation.
        with_branches: Whether other branches become conversations, too.
    """

    def __init__(self, report: Report, *, item_bytes_max: int, with_branches: bool) -> None:
        self.report = report
        self._item_bytes_max = item_bytes_max
        self._with_branches = with_branches

    def _taken(self, branches: Iterable[_T], place: str) -> Iterator[tuple[int, _T]]:
        """Yield the branches that become conversations, each with its number from 1."""
        for number, branch in enumerate(branches, 1):
            if number == 1:
                yield number, branch
            elif self._with_branches:
                self.report.add("kept", "other branches, as conversations of their own", place)
                yield number, branch
            else:
                self.report.add("left_out", "other branches", place)


class ItemsReader(_Reader, ABC):
    """A reader of a JSON array of conversations, or of one."""

    def __init__(self, report: Report, *, item_bytes_max: int, with_branches: bool = True) -> None:
        super().__init__(report, item_bytes_max=item_bytes_max, with_branches=with_branches)
        self._items = JsonItems(item_bytes_max)
        self._count = 0

    def receive_data(self, data: bytes) -> Iterator[History]:
        """Yield the conversations that ``data`` completes. Exhaust it.

        Raises:
            HistoryError: ``invalid_json``, ``item_too_large``.
        """
        for item in self._items.receive_data(data):
            yield from self._read_item(item)

    def receive_eof(self) -> Iterator[History]:
        """Yield the rest.

        Raises:
            HistoryError: ``history_truncated``.
        """
        for item in self._items.receive_eof():
            yield from self._read_item(item)

    def _read_item(self, item: bytes) -> Iterator[History]:
        place = pointer([self._count])
        self._count += 1
        try:
            value = decode_item(item, self.report, place)
        except HistoryError as error:
            self.report.add("unreadable", f"conversations ({error.code})", place)
            return
        yield from self._read(value, place)

    @abstractmethod
    def _read(self, value: Json, place: str) -> Iterator[History]: ...


class LinesReader(_Reader, ABC):
    """A reader of one conversation, one JSON object a line."""

    def __init__(self, report: Report, *, item_bytes_max: int, with_branches: bool = True) -> None:
        super().__init__(report, item_bytes_max=item_bytes_max, with_branches=with_branches)
        self._splitter = LineSplitter(item_bytes_max)
        self._size_bytes = 0
        self._line = 0

    def receive_data(self, data: bytes) -> Iterator[History]:
        """Take lines; what they tell comes at the end.

        Raises:
            HistoryError: ``item_too_large``.
        """
        self._size_bytes += len(data)
        if self._size_bytes > self._item_bytes_max:
            detail = f"a session has at most {self._item_bytes_max} bytes"
            raise HistoryError("item_too_large", detail)
        for line in self._splitter.receive_data(data):
            self._read_line(line)
        yield from ()

    def receive_eof(self) -> Iterator[History]:
        """Yield what the lines told."""
        self._read_line(self._splitter.receive_eof())
        yield from self._finish()

    def _read_line(self, line: bytes) -> None:
        self._line += 1
        if not line.strip():
            return
        place = f"line {self._line}"
        try:
            record = decode_item(line, self.report, place)
        except HistoryError as error:
            self.report.add("unreadable", f"lines ({error.code})", place)
            return
        if isinstance(record, dict):
            self._take(record, place)
        else:
            self.report.add("unreadable", "lines that are no objects", place)

    @abstractmethod
    def _take(self, record: dict[str, Json], place: str) -> None: ...

    @abstractmethod
    def _finish(self) -> Iterator[History]: ...
