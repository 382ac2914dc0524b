"""The trace of the work at hand follows it, and nothing else."""

import anyio
import pytest

from blockwire.ports.tracing import CURRENT_TRACEPARENT

pytestmark = pytest.mark.anyio


async def test_tasks_inherit_the_trace_of_whoever_started_them_and_keep_their_own() -> None:
    seen: list[str | None] = []

    async def work(trace: str | None) -> None:
        seen.append(CURRENT_TRACEPARENT.get())
        if trace is not None:
            CURRENT_TRACEPARENT.set(trace)
        await anyio.lowlevel.checkpoint()
        seen.append(CURRENT_TRACEPARENT.get())

    assert CURRENT_TRACEPARENT.get() is None
    CURRENT_TRACEPARENT.set("a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work, "b")
        tasks.start_soon(work, None)

    assert seen == ["a", "a", "b", "a"]
    assert CURRENT_TRACEPARENT.get() == "a"
