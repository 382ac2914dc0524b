"""What every method of the service stands on: the injected parts, and one life.

Spec: docs/spec/gateway/turns.md. Above are ``conversations`` and ``service``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

import anyio
import anyio.abc

from blockwire.content import Redactor
from blockwire.errors import BlockwireError, StoreError
from blockwire.gateway.access.keyring import Keyring
from blockwire.gateway.http.http_errors import gateway_stopping
from blockwire.gateway.operations.observer import Observer
from blockwire.gateway.operations.upkeep import Upkeep, store_jobs
from blockwire.gateway.settings import EXTERNAL_ENGINE, EngineProfile, GatewaySettings
from blockwire.gateway.turns.accounts import ANY_MODEL, Accounts, Prices
from blockwire.gateway.turns.conversation import Conversation, LiveTurn
from blockwire.gateway.turns.engine_use import EngineSet, EngineUse
from blockwire.gateway.turns.flight import Flight
from blockwire.gateway.turns.queue import QueueSpace, dequeued_notice
from blockwire.gateway.turns.reconcile import reconcile
from blockwire.gateway.turns.registry import Registry
from blockwire.gateway.turns.runner import Guard, TurnRunner
from blockwire.jsontext import Json
from blockwire.ports import Bus, Clock, Engine, FaultPoint, Faults, IdFactory, Store, TurnRow

__all__ = ["GatewayCore"]

_log: Final = logging.getLogger(__name__)


class GatewayCore:
    """The parts of one gateway, and its start and stop.

    Args:
        store: Opened and closed here; also read by streams.
        bus: Opened and closed here; streams subscribe to it.
        clock: What time it is.
        ids: Makes ids.
        engines: By configured name, the default first; closed here.
        guard: Wraps every engine's stream so that it ends well.
        settings: Bounds.
        faults: Fault points of the crash tests.
        profiles: What is known of engines by name, outside ones included.
        redact: Returns a diagnostic of an outside producer without credentials.
        observer: Told of the work; one of its own without.
        on_turn: Told of each turn that ended or waits for a person, once that is committed; must
            neither block nor raise.

    Attributes:
        keyring: Secrets that were given out; loaded at the start.
        observer: See there.
        upkeep: What is done in the background.
    """

    def __init__(  # noqa: PLR0913 - everything is injected
        self,
        *,
        store: Store,
        bus: Bus,
        clock: Clock,
        ids: IdFactory,
        engines: Mapping[str, Engine],
        guard: Guard,
        settings: GatewaySettings,
        faults: Faults | None = None,
        profiles: Mapping[str, EngineProfile] | None = None,
        redact: Callable[[str], str] | None = None,
        observer: Observer | None = None,
        on_turn: Callable[[TurnRow], None] | None = None,
    ) -> None:
        self.observer = observer if observer is not None else Observer(clock)
        self.store = store
        self.keyring = Keyring(store, clock)
        self.bus = bus
        self.settings = settings
        self._clock = clock
        self._ids = ids
        self._engines = dict(engines)
        self._profiles: dict[str, EngineProfile] = {
            **dict.fromkeys(engines, EngineProfile()),
            EXTERNAL_ENGINE: EngineProfile(is_external=True),
            **(profiles or {}),
        }
        self._faults = faults
        self._redact = redact if redact is not None else Redactor().redact
        self._engine_default = settings.engine_default or next(iter(engines), EXTERNAL_ENGINE)
        self._engine_use = EngineUse()
        self._replaced: list[tuple[str, Engine]] = []
        self._runner = TurnRunner(store=store, clock=clock, ids=ids, guard=guard, settings=settings)
        self._registry = Registry(self._make, idle_max=settings.conversations_cached_max)
        self._accounts = Accounts(
            prices=_prices_of(self._profiles),
            redact=self._redact,
            on_turn=on_turn,
        )
        self._flight = Flight(settings.turns_in_flight_max)
        self._queue_space = QueueSpace()
        self.upkeep = Upkeep(clock, self.observer, interval_s=settings.upkeep_interval_s)
        self.upkeep.add(*store_jobs(store, settings, clock))
        self._tasks: anyio.abc.TaskGroup | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._stop = anyio.Event()
        self._is_ending = False
        self._ending_s: float | None = None

    def _make(self, conversation_id: str) -> Conversation:
        return Conversation(
            conversation_id,
            store=self.store,
            bus=self.bus,
            clock=self._clock,
            faults=self._faults,
            observer=self.observer,
            accounts=self._accounts,
            queue_space=self._queue_space,
            is_external=self._is_external,
            ahead_max=self.settings.batch_events_max,
        )

    def _is_external(self, engine: str) -> bool:
        profile = self._profiles.get(engine)
        return profile is not None and profile.is_external

    # life ---------------------------------------------------------------------------------
    async def start(self) -> None:
        """Open store and bus, end what an earlier process left running, be ready.

        Raises:
            StoreError: The store does not open, or cannot be reconciled; it is closed again.
            BusError: The bus does not open.
        """
        await self.store.open()
        try:
            await self.keyring.load()
            await self.bus.open()
            interrupted = await reconcile(self.store, self._runner, self._registry.find)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.bus.aclose()
                await self.store.aclose()
            raise
        if interrupted:
            _log.warning("turns interrupted by the end of an earlier process: %d", interrupted)
        started = anyio.Event()
        self._supervisor = asyncio.get_running_loop().create_task(self._supervise(started))
        await started.wait()

    async def _supervise(self, started: anyio.Event) -> None:
        """Hold the task group of all turns, in a task of its own.

        A task group belongs to the task that entered it, and start and stop may be called from
        two different ones.
        """
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self.upkeep.run)
            started.set()
            await self._stop.wait()
            tasks.cancel_scope.cancel()

    async def stop(self) -> None:
        """End running turns as interrupted, then let go of engines, bus and store.

        Harmless when repeated. Suspended turns stay as they are.
        """
        if self._stop.is_set():
            return
        self._stop.set()
        with anyio.CancelScope(shield=True):
            await self.end_turns()
            if self._supervisor is not None:
                await asyncio.wait([self._supervisor])
            await self._close_engines()
            await self.bus.aclose()
            await self.store.aclose()

    async def end_turns(self) -> None:
        """End running turns as interrupted; waits at most ``stop_s_max``. Harmless when repeated.

        Suspended turns stay as they are; queued ones are let go. Nothing starts any more. Readers
        that are connected hear of the ends.
        """
        self._is_ending = True
        for conversation in self._registry.all():
            self._drop_queue(conversation)
        # Once for both, where a server drained before the service was stopped.
        if self._ending_s is None:
            self._ending_s = self._clock.monotonic_s()
        spent_s = self._clock.monotonic_s() - self._ending_s
        with anyio.move_on_after(self.settings.stop_s_max - spent_s):
            async with anyio.create_task_group() as endings:
                for conversation in self._registry.all():
                    for live in list(conversation.turns.values()):
                        if live.row.status == "running":
                            endings.start_soon(self._interrupt, conversation, live)

    def _drop_queue(self, conversation: Conversation) -> None:
        """Let go of what waits: after a stop nobody would remember it."""
        for queued in conversation.queue:
            conversation.queue.remove(queued, "dropped", gateway_stopping())
            self.bus.publish(dequeued_notice(conversation.id, queued, "stopping"))

    def use_engines(self, new: EngineSet) -> None:
        """Run turns that begin from now on with other engines; those that run keep theirs.

        An engine that was replaced is closed when its last turn is over.

        Raises:
            StoreError: The service does not run.
        """
        tasks = self._running_tasks()
        replaced = list(self._engines.items())
        self._engines = dict(new.engines)
        self._profiles = {
            EXTERNAL_ENGINE: EngineProfile(is_external=True),
            **new.profiles,
        }
        self._engine_default, self._redact = new.default, new.redact
        self._runner.guard = new.guard
        self._accounts.use(_prices_of(self._profiles), new.redact)
        self._replaced += replaced
        for name, engine in replaced:
            tasks.start_soon(self._retire, name, engine)

    async def _retire(self, name: str, engine: Engine) -> None:
        await self._engine_use.until_free(engine)
        self._replaced.remove((name, engine))
        await _close_engine(name, engine)

    async def _close_engines(self) -> None:
        for name, engine in (*self._replaced, *self._engines.items()):
            await _close_engine(name, engine)

    async def _interrupt(self, conversation: Conversation, live: LiveTurn) -> None:
        try:
            await self._runner.interrupt(conversation, live)
        except BlockwireError as error:
            # The next start interrupts it.
            _log.warning("turn %s: %s", live.row.id, error.code)

    async def ping(self) -> None:
        """Return when store and bus work.

        Raises:
            StoreError: The store does not work, or the service does not run.
            BusError: The bus does not work.
        """
        self._running_tasks()
        await self.store.ping()
        await self.bus.ping()

    def _running_tasks(self) -> anyio.abc.TaskGroup:
        if self._tasks is None or self._is_ending or self._stop.is_set():
            raise StoreError("gateway_stopping", "the gateway does not run", retryable=True)
        return self._tasks

    @property
    def turns_in_flight(self) -> int:
        """How many turns run."""
        return self._flight.count

    @property
    def turns_queued(self) -> int:
        """How many turns wait for their conversation."""
        return self._queue_space.count

    @property
    def engine_names(self) -> tuple[str, ...]:
        """Names that a submit may give as ``engine``, the default first."""
        default = self._engine_default
        return (default, *(name for name in self._profiles if name != default))

    @property
    def models(self) -> dict[str, Json]:
        """Models that are known by engine, its default first; engines without any are left out."""
        known = {name: _models_of(profile) for name, profile in self._profiles.items()}
        return {name: [*models] for name, models in known.items() if models}

    @property
    def replays(self) -> list[Json]:
        """Names of the engines that play recordings, whatever they are asked."""
        return [name for name in self.engine_names if self._profiles[name].is_replay]

    def _reach(self, point: FaultPoint) -> None:
        if self._faults is not None:
            self._faults.reach(point)

    def _limit(self, limit: int) -> int:
        return max(1, min(limit, self.settings.page_items_max))


def _prices_of(profiles: Mapping[str, EngineProfile]) -> dict[str, Prices]:
    return {name: p.prices for name, p in profiles.items() if p.prices is not None}


def _models_of(profile: EngineProfile) -> list[str]:
    priced = profile.prices.by_model if profile.prices is not None else {}
    named = [profile.model] if profile.model is not None else []
    return [*dict.fromkeys([*named, *(model for model in priced if model != ANY_MODEL)])]


async def _close_engine(name: str, engine: Engine) -> None:
    try:
        await engine.aclose()
    except Exception as error:  # noqa: BLE001 - an engine is code of somebody else
        _log.error("engine %s did not close: %s", name, type(error).__name__)
