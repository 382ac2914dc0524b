"""What only several runs of an application show together.

Spec: docs/spec/terminal/tools.md, "How an application is judged".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from blockwire.conform.scenarios import REQUIREMENTS
from blockwire.conform.scripted import ScriptedTerminal
from blockwire.conform.verdicts import Finding

__all__ = ["Heard", "judge_runs"]

UNDISTURBED: Final = "supported"
"""How the names of the scripts begin in which nothing is refused."""
TO_HEAL: Final = frozenset({"a state does not match", "a change is refused"})
REFERENCES_MIN: Final = 2
"""Undisturbed runs that have to end alike before another one can be held against them."""
QUERIES_MIN: Final = 3
"""Queries that are needed to say that a program writes something else at another time."""


class Heard(NamedTuple):
    """One run: the name of its script, and its terminal."""

    name: str
    terminal: ScriptedTerminal


def judge_runs(runs: Sequence[Heard]) -> Iterator[Finding]:
    """Yield what the runs say together."""
    asked = [run for run in runs if run.terminal.query is not None]
    yield _judge_ids(asked)
    yield _judge_writes(asked)
    yield from _judge_texts(asked)


def _judge_ids(asked: Sequence[Heard]) -> Finding:
    requirement, case = REQUIREMENTS["ids"], "ids of queries, over all runs"
    queries = [run.terminal.query for run in asked]
    ids = [str(query.message["request_id"]) for query in queries if query is not None]
    if len(ids) < 2:
        return Finding(requirement, case, "not judged", "there were no two queries")
    if len(set(ids)) < len(ids):
        return Finding(requirement, case, "fail", "two runs asked with the same request id")
    return Finding(requirement, case, "pass")


def _judge_writes(asked: Sequence[Heard]) -> Finding:
    """Say whether query and attributes are one write: most often they come together, then."""
    requirement, case = REQUIREMENTS["query"], "pieces of queries, over all runs"
    apart = sum(run.terminal.is_apart for run in asked)
    if len(asked) < QUERIES_MIN:
        return Finding(requirement, case, "not judged", "there were too few queries")
    if apart * 2 > len(asked):
        detail = f"ESC [ c came later than the query in {apart} of {len(asked)} runs"
        return Finding(requirement, case, "fail", detail)
    if apart:
        return Finding(requirement, case, "not judged", "this machine was too slow to tell")
    return Finding(requirement, case, "pass")


def _judge_texts(asked: Sequence[Heard]) -> Iterator[Finding]:
    """Compare what Blocks hold in the end with what they hold where nothing was refused."""
    requirement = REQUIREMENTS["content"]
    references = [run.terminal.texts for run in asked if _is_reference(run.name)]
    is_steady = len(references) >= REFERENCES_MIN and len(set(references)) == 1
    for name, terminal in asked:
        if name not in TO_HEAL or not terminal.healed_count:
            continue
        case = f"{name}: the text in the end"
        if not is_steady:
            detail = "no two runs without a refusal that ended alike"
            yield Finding(requirement, case, "not judged", detail)
        elif terminal.texts != references[0]:
            detail = f"its Blocks hold {terminal.texts!r}, and {references[0]!r} undisturbed"
            yield Finding(requirement, case, "fail", detail)
        else:
            yield Finding(requirement, case, "pass")


def _is_reference(name: str) -> bool:
    return name == UNDISTURBED or name.startswith(f"{UNDISTURBED},")
