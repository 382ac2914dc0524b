"""Hooks: a program or a web address hears when a turn ends or waits for a person.

Spec: docs/spec/gateway/hooks.md. Beside the engines because it needs what they need: child processes
and an HTTP client.

What is told is content-free: ids, status, times, counts and codes. Telling never holds up a turn:
notices wait in a bounded line, a few at a time are delivered, and what fails for good is logged.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal

import anyio
from msgspec import Struct

import blockwire
from blockwire.engines.child import ChildProcess
from blockwire.engines.command import child_environment
from blockwire.errors import EngineError
from blockwire.jsontext import Json, encode_json
from blockwire.ports import Clock, TurnRow
from blockwire.ports.tracing import CURRENT_TRACEPARENT

if TYPE_CHECKING:
    import httpx

__all__ = ["HookSettings", "TurnHooks", "notice_of", "signature"]

_log: Final = logging.getLogger(__name__)

SIGNATURE_HEADER: Final = "blockwire-signature"

NOTICES_MAX: Final = 1_000
"""Notices that wait; beyond it the oldest is dropped, which is logged."""

WORKERS: Final = 4
"""Notices that are delivered at the same time."""

RETRY_S_MAX: Final = 60.0
"""Longest pause between two tries, also where the receiver asks for a longer one."""

_PASSING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class HookSettings(Struct, frozen=True, kw_only=True):
    """Who is told, and how patiently.

    Attributes:
        on_turn_end: Program and arguments for turns that ended; empty for none.
        on_turn_waiting: The same for turns that wait for a person.
        webhook_url: Address that both are posted to; None for none.
        webhook_secret: Key of the signature; None leaves it out.
        command_s_max: A program that runs longer is ended.
        request_s_max: Of one request.
        tries_max: Requests of one notice.
        retry_first_s: Pause before the second try; it doubles.
    """

    on_turn_end: Sequence[str] = ()
    on_turn_waiting: Sequence[str] = ()
    webhook_url: str | None = None
    webhook_secret: str | None = None
    command_s_max: float = 30.0
    request_s_max: float = 10.0
    tries_max: int = 5
    retry_first_s: float = 1.0

    @property
    def is_empty(self) -> bool:
        """Whether nobody is told of anything."""
        return not (self.on_turn_end or self.on_turn_waiting or self.webhook_url)


def notice_of(turn: TurnRow) -> dict[str, Json]:
    """Return what is told of a turn that ended or waits; nothing that anybody said is in it."""
    is_waiting = turn.status == "suspended"
    notice: dict[str, Json] = {
        "type": "turn.waiting" if is_waiting else "turn.ended",
        # The same for each try, another for each thing that is told.
        "id": f"{turn.id}:{turn.last_seq}",
        "conversation_id": turn.conversation_id,
        "turn_id": turn.id,
        "status": turn.status,
        "engine": turn.engine,
        "created_at": turn.created_at,
    }
    more: dict[str, Json] = {
        "model": turn.model,
        "provider": turn.provider,
        "started_at": turn.started_at,
        "completed_at": turn.completed_at,
        "usage": turn.usage,
        "error_code": None if turn.error is None else turn.error.get("code"),
        "finish_reason": turn.finish_reason,
        "reason": turn.reason,
        "retry_of": turn.retry_of,
        "request_id": None if turn.request is None else turn.request.get("id"),
        "request_kind": None if turn.request is None else turn.request.get("kind"),
    }
    return notice | {name: value for name, value in more.items() if value is not None}


def signature(secret: str, body: bytes, unix_s: int) -> str:
    """Return the header with which a receiver knows who sent ``body``, and when."""
    signed = hmac.new(secret.encode(), b"%d.%b" % (unix_s, body), hashlib.sha256)
    return f"t={unix_s},v1={signed.hexdigest()}"


class TurnHooks:
    """Delivers notices.

    ``tell`` from anywhere, ``run`` in a task of its own, ``drain`` before the end.

    Args:
        settings: Who is told.
        clock: Dates signatures.
        redact: Returns a text without credentials, for what a program writes to standard error.
        sleep: Waits for so many seconds.
    """

    def __init__(
        self,
        settings: HookSettings,
        *,
        clock: Clock,
        redact: Callable[[str], str],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._redact = redact
        self._sleep = sleep
        # Each with the trace of the turn that it tells of.
        self._waiting: deque[tuple[dict[str, Json], str | None]] = deque()
        self._busy = 0
        self._news = anyio.Event()
        self._idle = anyio.Event()
        self._client: httpx.AsyncClient | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody is told of anything."""
        return self._settings.is_empty

    def tell(self, turn: TurnRow) -> None:
        """Have it told soon that ``turn`` ended, or waits; returns at once and never raises."""
        if self.is_empty:
            return
        if len(self._waiting) >= NOTICES_MAX:
            dropped, _ = self._waiting.popleft()
            _log.warning("hooks are too slow: a notice of turn %s is dropped", dropped["turn_id"])
        self._waiting.append((notice_of(turn), CURRENT_TRACEPARENT.get()))
        self._news.set()

    async def run(self) -> None:
        """Deliver notices until cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                for _ in range(WORKERS):
                    tasks.start_soon(self._work)
        finally:
            client, self._client = self._client, None
            if client is not None:
                with anyio.CancelScope(shield=True):
                    await client.aclose()

    async def drain(self, within_s: float) -> None:
        """Return when everything is delivered, or given up, or after so many seconds."""
        with anyio.move_on_after(within_s):
            while self._waiting or self._busy:
                self._idle = anyio.Event()
                await self._idle.wait()
        if self._waiting or self._busy:
            _log.warning("notices of turns not delivered: %d", len(self._waiting) + self._busy)

    async def _work(self) -> None:
        while True:
            while not self._waiting:
                self._idle.set()
                self._news = anyio.Event()
                await self._news.wait()
            notice, traceparent = self._waiting.popleft()
            CURRENT_TRACEPARENT.set(traceparent)
            self._busy += 1
            try:
                await self._deliver(notice)
            finally:
                self._busy -= 1

    async def _deliver(self, notice: dict[str, Json]) -> None:
        settings = self._settings
        is_waiting = notice["type"] == "turn.waiting"
        command = settings.on_turn_waiting if is_waiting else settings.on_turn_end
        deliveries: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        if command:
            deliveries.append(("program", lambda: self._run_program(notice, command)))
        if settings.webhook_url:
            deliveries.append(("webhook", lambda: self._post(notice)))
        for hook, deliver in deliveries:
            try:
                await deliver()
            except Exception as error:  # noqa: BLE001 - one notice must not end all others
                # Not the text: it may quote an address.
                _log.error("%s of turn %s: %s", hook, notice["turn_id"], type(error).__name__)

    # programs -----------------------------------------------------------------------------
    async def _run_program(self, notice: dict[str, Json], command: Sequence[str]) -> None:
        env = {
            "BLOCKWIRE_CONVERSATION_ID": str(notice["conversation_id"]),
            "BLOCKWIRE_TURN_ID": str(notice["turn_id"]),
            "BLOCKWIRE_TURN_STATUS": str(notice["status"]),
        }
        traceparent = CURRENT_TRACEPARENT.get()
        if traceparent is not None:
            env["TRACEPARENT"] = traceparent
        child = ChildProcess()
        status: int | None = None
        try:
            with anyio.move_on_after(self._settings.command_s_max):
                await child.start(
                    command,
                    env=child_environment(os.environ, env=env),
                    cwd=None,
                    stdin=encode_json(notice) + b"\n",
                )
                while await child.read():
                    pass
                status = await child.wait()
        except EngineError as error:
            _log.error("the program for turns cannot be run: %s", error.detail)
            return
        finally:
            with anyio.CancelScope(shield=True):
                await child.stop(patience_s=0, kill_grace_s=1.0)
        if status != 0:
            how = "took too long" if status is None else f"ended with status {status}"
            _log.warning("the program for turn %s %s", notice["turn_id"], how)
        text = self._redact(child.stderr.text)
        for line in text.split("\n") if text else ():
            # Content: a level that nobody has without asking for it.
            _log.debug("the program for turn %s: %s", notice["turn_id"], line)

    # webhooks -----------------------------------------------------------------------------
    async def _post(self, notice: dict[str, Json]) -> None:
        body = encode_json(notice)
        pause_s = self._settings.retry_first_s
        outcome: Literal["done", "again", "refused"] = "again"
        for number in range(1, self._settings.tries_max + 1):
            outcome, asked_s, why = await self._try_post(notice, body)
            if outcome == "done":
                return
            if outcome == "refused" or number == self._settings.tries_max:
                _log.warning("webhook of turn %s: %s, tries: %d", notice["turn_id"], why, number)
                return
            await self._sleep(min(max(pause_s, asked_s), RETRY_S_MAX))
            pause_s *= 2

    async def _try_post(
        self, notice: dict[str, Json], body: bytes
    ) -> tuple[Literal["done", "again", "refused"], float, str]:
        """Return what became of one request, the pause that was asked for, and why."""
        import httpx  # noqa: PLC0415 - a large import, and most gateways have no webhook

        headers = {
            "content-type": "application/json",
            "user-agent": f"blockwire/{blockwire.__version__}",
            "blockwire-event": str(notice["type"]),
            "blockwire-delivery": str(notice["id"]),
        }
        traceparent = CURRENT_TRACEPARENT.get()
        if traceparent is not None:
            headers["traceparent"] = traceparent
        if self._settings.webhook_secret is not None:
            unix_s = self._clock.now_ms() // 1000
            headers[SIGNATURE_HEADER] = signature(self._settings.webhook_secret, body, unix_s)
        if self._client is None:
            # No redirect: what is meant for one address goes to no other.
            self._client = httpx.AsyncClient(
                follow_redirects=False, timeout=self._settings.request_s_max, trust_env=False
            )
        try:
            with anyio.fail_after(self._settings.request_s_max):
                request = self._client.build_request(
                    "POST", str(self._settings.webhook_url), content=body, headers=headers
                )
                # The answer's body is of no interest, and may never end.
                response = await self._client.send(request, stream=True)
                await response.aclose()
        except (httpx.HTTPError, TimeoutError, OSError) as error:
            return "again", 0.0, type(error).__name__
        if response.is_success:
            return "done", 0.0, ""
        why = f"status {response.status_code}"
        if response.status_code in _PASSING or response.is_server_error:
            asked = response.headers.get("retry-after", "")
            return "again", float(asked) if asked.isdecimal() and len(asked) < 6 else 0.0, why
        return "refused", 0.0, why
