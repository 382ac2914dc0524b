"""What a gateway does in the background, again and again: merging, retention, vacuum, and the like.

Spec: docs/spec/gateway/persistence.md, "Keeping it small". A *job* is a step that is repeated until
it has nothing left to do. In a round each job that has does one step in turn, so none waits for
another to be through with everything; a step is small, and how it gets out of the way of those who
wait is the business of whoever does it. Nothing here must happen: whatever fails is told and tried
again in the next round, and a gateway that stops leaves the rest for the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import anyio
import anyio.lowlevel

from blockwire.errors import BlockwireError
from blockwire.gateway.operations.observer import Observer
from blockwire.gateway.settings import GatewaySettings
from blockwire.ports import Clock, RetentionLimits, Store

__all__ = ["Job", "Upkeep", "retention_limits", "store_jobs"]

_log: Final = logging.getLogger(__name__)

_ATTACHMENTS_PER_STEP: Final = 16
"""Attachments that nobody names, removed in one commit."""


class Job(NamedTuple):
    """Something to be done again and again.

    Attributes:
        name: For logs and metrics, in snake_case.
        step: Does a little; returns whether there may be more to do.
    """

    name: str
    step: Callable[[], Awaitable[bool]]


class Upkeep:
    """Does the jobs of a gateway, a round every so often.

    Args:
        clock: For what is measured.
        observer: Told of each job of each round.
        interval_s: Between two rounds; 0 for never.
    """

    def __init__(self, clock: Clock, observer: Observer, *, interval_s: float) -> None:
        self._clock = clock
        self._observer = observer
        self._interval_s = interval_s
        self._jobs: list[Job] = []

    def add(self, *jobs: Job) -> None:
        """Do these jobs, too."""
        self._jobs += jobs

    async def run(self) -> None:
        """Do rounds until cancelled; return at once where there are none."""
        while self._interval_s > 0:
            await anyio.sleep(self._interval_s)
            await self.run_round()

    async def run_round(self) -> None:
        """Do every job until it has nothing left, a step of each in turn."""
        pending = [_Running(job) for job in self._jobs]
        while pending:
            pending = [running for running in pending if await self._step(running)]
            # A store in memory waits for nothing.
            await anyio.lowlevel.checkpoint()

    async def _step(self, running: _Running) -> bool:
        """Do one step; return whether there may be another in this round."""
        started_s = self._clock.monotonic_s()
        is_more = False
        is_ok = True
        try:
            is_more = await running.job.step()
        except BlockwireError as error:
            is_ok = False
            _log.warning("upkeep: %s: %s", running.job.name, error.code)
        except Exception as error:  # noqa: BLE001 - the next round tries it again, and other jobs go on
            is_ok = False
            _log.error("upkeep: %s failed", running.job.name, exc_info=error)
        running.seconds += self._clock.monotonic_s() - started_s
        running.step_count += is_more
        if not is_more:
            self._observer.count_upkeep(
                running.job.name, seconds=running.seconds, items=running.step_count, ok=is_ok
            )
        return is_more


class _Running:
    """A job in one round."""

    __slots__ = ("job", "seconds", "step_count")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.seconds = 0.0
        self.step_count = 0


def retention_limits(settings: GatewaySettings, now_ms: int) -> RetentionLimits:
    """Return what ``settings`` keep now."""

    def before(age_s: float) -> int | None:
        return now_ms - round(age_s * 1000) if age_s else None

    return RetentionLimits(
        events_before=before(settings.keep_events_s),
        conversation_bytes_max=settings.keep_conversation_bytes or None,
        total_bytes_max=settings.keep_total_bytes or None,
        pairs_before=before(settings.keep_pairs_s),
    )


def store_jobs(store: Store, settings: GatewaySettings, clock: Clock) -> list[Job]:
    """Return the jobs that keep ``store`` small."""

    async def trim() -> bool:
        return await store.trim_step(retention_limits(settings, clock.now_ms()))

    async def collect() -> bool:
        created_before = clock.now_ms() - round(settings.attachment_unnamed_s_max * 1000)
        count = await store.collect_attachments(
            created_before=created_before, limit=_ATTACHMENTS_PER_STEP
        )
        return count == _ATTACHMENTS_PER_STEP

    return [
        Job("merge", store.merge_step),
        Job("retention", trim),
        Job("attachments", collect),
        Job("vacuum", store.vacuum_step),
    ]
