"""The hundred-thousandth operation does the work of the first, and takes no more memory than promised.

Work is counted, not timed: calls of Python functions and of functions written in C.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from blockwire.terminal import Endpoint, Operation, TerminalSession
from tests.support.counting import calls_in
from tests.terminal.sessions import (
    append,
    extend,
    framed,
    numbered_contexts,
    opening,
    replace_suffix,
    seal,
    update,
)

FEW: Final = 200
MANY: Final = 4_000
MEASURED: Final = 256
TEXT: Final = "twenty characters ok"

# docs/spec/terminal/limits.md, "Memory".
TEXT_FACTOR: Final = 3
OPERATION_ID_BYTES: Final = 200
BLOCK_BYTES: Final = 600


def extends() -> Iterator[Operation]:
    """Yield one append and extends of that Block, for ever."""
    yield append("op-0", TEXT)
    for number in range(1, sys.maxsize):
        yield extend(f"op-{number}", f"op-{number - 1}", TEXT)


def appends() -> Iterator[Operation]:
    """Yield appends, for ever."""
    for number in range(sys.maxsize):
        yield append(f"op-{number}", TEXT, block_id=f"block-{number}")


def mixture() -> Iterator[Operation]:
    """Yield operations of every kind, good and bad, for ever."""
    yield append("op-0", TEXT)
    base = "op-0"
    for number in range(1, sys.maxsize):
        operation_id = f"op-{number}"
        kinds: tuple[Callable[[], Operation], ...] = (
            lambda: update(operation_id, TEXT),  # noqa: B023 - called at once
            lambda: extend(operation_id, base, TEXT),  # noqa: B023
            lambda: replace_suffix(operation_id, base, 10, TEXT),  # noqa: B023
            lambda: extend(operation_id, "stale", TEXT),  # noqa: B023
            lambda: seal(operation_id, block_id="none"),  # noqa: B023
        )
        yield kinds[number % len(kinds)]()
        if number % len(kinds) < 3:
            base = operation_id


STREAMS: Final = (extends, appends, mixture)


def opened() -> Endpoint:
    endpoint = Endpoint(TerminalSession(new_context_id=numbered_contexts()))
    endpoint.receive_data(framed(opening()))
    return endpoint


@pytest.mark.requirement("terminal:operation:cost")
@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream.__name__))
def test_an_operation_does_the_same_work_however_many_came_before(
    stream: Callable[[], Iterator[Operation]],
) -> None:
    endpoint = opened()
    operations = stream()

    def work_after(total: int) -> int:
        for _ in range(total):
            endpoint.receive_data(framed(next(operations)))
        frames = [framed(next(operations)) for _ in range(MEASURED)]
        return calls_in(lambda: [endpoint.receive_data(frame) for frame in frames])

    early = work_after(FEW)
    late = work_after(MANY)

    assert early > MEASURED
    # Chunks of text are made now and then, not at the same place in both.
    assert late <= early * 1.05, f"{early} calls at first, {late} later"


@pytest.mark.requirement("terminal:operation:cost")
@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream.__name__))
def test_an_operation_gets_no_slower_with_other_contexts(
    stream: Callable[[], Iterator[Operation]],
) -> None:
    frames = [framed(operation) for _, operation in zip(range(MEASURED), stream(), strict=False)]
    alone, crowded = opened(), opened()
    for number in range(200):
        crowded.receive_data(framed(opening(f"more-{number}")))

    found = [
        calls_in(lambda: [endpoint.receive_data(frame) for frame in frames])  # noqa: B023 - now
        for endpoint in (alone, crowded)
    ]

    assert found[0] == found[1]


@pytest.mark.exhaustive
@pytest.mark.requirement("terminal:security:bounded")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream.__name__))
def test_what_is_kept_is_little_more_than_the_text(
    stream: Callable[[], Iterator[Operation]],
) -> None:
    count = 100_000
    endpoint = opened()
    tracemalloc.start()
    try:
        for _, operation in zip(range(count), stream(), strict=False):
            endpoint.receive_data(framed(operation))
        gc.collect()
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    blocks = endpoint.session.contexts["c1"].blocks
    contents = [block.content for block in blocks.values() if block.content]
    text_bytes = sum(content.cost_bytes for content in contents)
    allowed_bytes = (
        TEXT_FACTOR * text_bytes + OPERATION_ID_BYTES * count + BLOCK_BYTES * len(blocks)
    )
    assert len(contents) == len(blocks)
    assert kept_bytes <= allowed_bytes
