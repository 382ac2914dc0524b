"""An append-only sequence that successive states share.

Each state knows how much of the shared list is its own, so adding to the newest state costs O(1)
and an older state never changes. Adding to an *older* state (a branch) copies its part first.
This is what keeps the reducer pure while one more delta costs the same at 1 kB and at 10 MB.

One lineage of states belongs to one thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

__all__ = ["AppendLog"]

T = TypeVar("T")


class AppendLog(Generic[T]):
    """An immutable view of the first ``len(self)`` items of a shared list."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._length)

    def __getitem__(self, index: int) -> T:
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index if index >= 0 else index + self._length]

    def since(self, index: int) -> Iterator[T]:
        """Return the items from ``index`` (0 to ``len(self)``) on."""
        return islice(self._items, index, self._length)

    def append(self, item: T) -> AppendLog[T]:
        """Return the sequence with ``item`` at its end; ``self`` stays as it is."""
        items = self._items
        if len(items) != self._length:
            items = items[: self._length]
        items.append(item)
        longer: AppendLog[T] = AppendLog.__new__(AppendLog)
        longer._items = items
        longer._length = self._length + 1
        return longer
