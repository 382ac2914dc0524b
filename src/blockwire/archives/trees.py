"""Conversations that are trees: the branch that is shown, and the others.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from blockwire.archives.report import Report

__all__ = ["BRANCHES_MAX", "branches"]

BRANCHES_MAX: Final = 200
"""Branches of one conversation besides the one that is shown."""

NODES_MAX: Final = 200_000
"""Messages of all branches of one conversation; a message counts in each."""


def branches(
    parents: Mapping[str, str | None], leaf: str | None, report: Report, place: str
) -> Iterator[list[str]]:
    """Yield paths from a root to a leaf: first the one that is shown, then the others.

    A path that comes back to itself ends there, and is reported; so are branches beyond the bounds.

    Args:
        parents: Node -> its parent, None for a root; in the order of the file.
        leaf: End of the branch that is shown; an unknown one means the last leaf.
        report: Where to tell.
        place: Of the conversation in the file.
    """
    has_child = {parent for parent in parents.values() if parent is not None}
    leaves = [node for node in parents if node not in has_child]
    if leaf is None or leaf not in parents:
        if leaf is not None:
            report.add("repaired", "current branches that are not there", place)
        nodes = leaves or [*parents]
        if not nodes:
            return
        leaf = nodes[-1]
    shown = _path(parents, leaf, report, place)
    yield shown
    on_path = set(shown)
    left = NODES_MAX - len(shown)
    count = 0
    # What may be shown is often not a leaf: what hangs below it is no branch of its own.
    for other in leaves:
        if other in on_path:
            continue
        count += 1
        if count > BRANCHES_MAX or left < 0:
            report.add("left_out", "branches beyond the bound", place)
            continue
        path = _path(parents, other, report, place)
        left -= len(path)
        yield path


def _path(parents: Mapping[str, str | None], leaf: str, report: Report, place: str) -> list[str]:
    path: list[str] = []
    seen: set[str] = set()
    node: str | None = leaf
    while node is not None and node in parents:
        if node in seen:
            report.add("repaired", "messages that follow themselves", place)
            break
        seen.add(node)
        path.append(node)
        node = parents[node]
    return path[::-1]
