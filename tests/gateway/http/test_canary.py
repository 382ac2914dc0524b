"""A canary in everything private, searched for in every byte that leaves.

One gateway holds private reasoning, provider data, system and developer messages, files that only
those name, secrets of the environment, exceptions and tokens, each with a word that stands nowhere
else. Then every route of the router is called, in every variant of the table in ``callbook``, by
everybody who has the public view; and the words are searched for in the answers, in what a live
reader got, in logs of all levels, and in every file that is not the store's own.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import pytest

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    Redactor,
    StreamEvent,
    TurnEnded,
    UnknownEvent,
)
from blockwire.engines import TurnLimits, guard
from blockwire.gateway.access.auth import SCOPES, Auth, Token, hash_token
from blockwire.ports import EngineRequest
from blockwire.stores import SqliteStore
from tests.gateway.core.world import CountingIds, FakeClock, ScriptEngine
from tests.gateway.http.callbook import CALLBOOK, ROUTES, Target, arguments_of, target_of
from tests.gateway.http.surface import Peer, Surface, json_of, peers, surface

pytestmark = pytest.mark.anyio

# What owners see and nobody else.
PRIVATE: Final = {
    "reasoning": "CanaryReasoningWord",
    "reasoning of a running turn": "CanaryRunningWord",
    "provider data of a block": "CanaryBlockDataWord",
    "provider data of a message": "CanaryMessageDataWord",
    "system prompt": "CanaryPromptWord",
    "system message": "CanarySystemWord",
    "developer message": "CanaryDeveloperWord",
    "content of a file that only a system message names": "CanaryFileWord",
    "name of that file": "CanaryFileNameWord",
    "an event of an unknown type": "CanaryUnknownWord",
}
# What nobody sees, whatever his scopes.
HIDDEN: Final = {
    "a value of the environment": "CanaryEnvironment0Word",
    "text of an exception": "CanaryExceptionWord",
    "a path of the server": "CanaryPathWord",
    "token of the owner": "CanaryOwnerTokenWord",
    "token of a reader": "CanaryReaderTokenWord",
    "a token that is wrong": "CanaryWrongTokenWord",
}
# What a share link hides besides.
HOUSEKEEPING: Final = {
    "metadata": "CanaryMetadataWord",
    "tag": "CanaryTagWord",
}
OWNER: Final = HIDDEN["token of the owner"]
READER: Final = HIDDEN["token of a reader"]
TOKENS: Final = (
    Token("owner", hash_token(OWNER), SCOPES),
    Token("reader", hash_token(READER), SCOPES - {"reasoning"}),
)
VISIBLE: Final = "AnswerForEverybody"


async def canaries(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
    """Answer with everything that is private in between, fail, or go on for ever."""
    turn_id = request.turn_id
    question = str(request.messages[-1])
    if "fail" in question:
        raise RuntimeError(
            f"{HIDDEN['text of an exception']} in /srv/{HIDDEN['a path of the server']}/x.py"
        )
    running = "run" in question
    word = PRIVATE["reasoning of a running turn" if running else "reasoning"]
    yield BlockStarted(turn_id, {"id": "r1", "type": "reasoning", "text": ""})
    for piece in ("I think ", word, " so"):
        yield BlockDelta(turn_id, "r1", "text", piece)
    if running:
        await anyio.sleep_forever()
    yield BlockCompleted(turn_id, "r1")
    data: Any = {"signature": PRIVATE["provider data of a block"]}
    private: Any = {"id": "r2", "type": "reasoning", "text": word, "visibility": "private"}
    yield BlockStarted(turn_id, {**private, "provider_data": data})
    yield BlockCompleted(turn_id, "r2")
    note: Any = {"turn_id": turn_id, "note": PRIVATE["an event of an unknown type"]}
    yield UnknownEvent(type="x.step", members=note)
    yield BlockStarted(
        turn_id, {"id": "p1", "type": "prose", "markdown": VISIBLE, "provider_data": data}
    )
    yield BlockCompleted(turn_id, "p1")
    secret = HIDDEN["a value of the environment"]
    failed: Any = {"id": "t1", "type": "tool", "tool": "ls", "status": "failed", "error": secret}
    yield BlockStarted(turn_id, failed)
    yield BlockCompleted(turn_id, "t1")
    error: Any = {"id": "e1", "type": "error", "code": "provider_error", "message": f"key {secret}"}
    yield BlockStarted(turn_id, error)
    yield BlockCompleted(turn_id, "e1")
    yield TurnEnded(turn_id, "failed", error_code="provider_error")


class Answered(NamedTuple):
    """What one request was answered."""

    audience: str
    target: Target
    status: int
    sent: bytes


class Canary(NamedTuple):
    """A gateway full of canaries, and everything that left it."""

    s: Surface
    connect: Any
    places: dict[str, str]
    answered: list[Answered]

    async def ask(self, audience: str, target: Target, headers: Mapping[str, str]) -> Answered:
        """Call and keep what was answered."""
        named = {name.replace("-", "_"): value for name, value in headers.items()}
        if "until=idle" in target.url:
            peer: Peer = await self.connect(target.url, **named)
            with anyio.fail_after(15):
                await peer.done.wait()
            status, sent = peer.status, repr(peer.headers).encode() + peer.raw
        else:
            response = await self.s.client.request(**arguments_of(target, **named))
            status = response.status_code
            sent = repr(response.headers).encode() + response.content
        answered = Answered(audience, target, status, sent)
        self.answered.append(answered)
        return answered

    async def ask_everything(self, audience: str, headers: Mapping[str, str], query: str) -> None:
        """Call every route in every variant; those that take something away come last."""
        order = {"PATCH": 1, "POST": 1, "DELETE": 2}
        names = sorted(ROUTES, key=lambda name: (order.get(ROUTES[name].method, 0), name))
        for name in names:
            how = CALLBOOK[name]
            takes_view = "view" in ROUTES[name].query_names
            for variant in (how.query, *how.variants):
                parts = [part for part in (variant, query if takes_view else "") if part]
                await self.ask(audience, target_of(name, self.places, "&".join(parts)), headers)


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


@asynccontextmanager
async def full(path: Path) -> AsyncIterator[Canary]:
    """Run a gateway and fill it with canaries."""
    clock, ids = FakeClock(), CountingIds(start=500)
    redact = Redactor([HIDDEN["a value of the environment"]]).redact

    def guarded(
        events: AsyncGenerator[StreamEvent, None], request: EngineRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        return guard(events, request, ids=ids, clock=clock, limits=TurnLimits(), redact=redact)

    engines = {"script": ScriptEngine(canaries)}
    more: Any = {"engines": engines, "guard": guarded, "clock": clock}
    async with (
        surface(store=SqliteStore(path), auth=Auth(TOKENS), **more) as s,
        peers(s.app) as connect,
    ):
        canary = Canary(s, connect, {}, [])
        canary.places.update(await _fill(s))
        yield canary


async def _fill(s: Surface) -> dict[str, str]:
    service = s.world.service
    conversation_id = await s.world.conversation(
        title="T",
        system=PRIVATE["system prompt"],
        tags=[HOUSEKEEPING["tag"]],
        metadata={"note": HOUSEKEEPING["metadata"]},
    )
    path = f"/v1/conversations/{conversation_id}"
    file_name = PRIVATE["name of that file"]
    uploaded = await s.client.post(
        f"{path}/attachments?name={file_name}.txt",
        content=PRIVATE["content of a file that only a system message names"].encode(),
        headers=bearer(OWNER),
    )
    attachment_id = json_of(uploaded)["id"]
    named: Any = {
        "type": "attachment",
        "attachment_id": attachment_id,
        "name": f"{file_name}.txt",
        "media_type": "text/plain",
    }
    data: Any = {"response_id": PRIVATE["provider data of a message"]}
    said: list[tuple[str, list[Any]]] = [
        ("system", [{"type": "prose", "markdown": PRIVATE["system message"]}, named]),
        ("developer", [{"type": "prose", "markdown": PRIVATE["developer message"]}]),
        ("assistant", [{"type": "prose", "markdown": VISIBLE}]),
    ]
    for role, content in said:
        message: Any = {"role": role, "content": content, "provider_data": data}
        await service.append_message(conversation_id, message, None)
    turn = await s.world.ask(conversation_id, "Hi")
    assert turn["status"] == "failed"
    assert (await s.world.ask(conversation_id, "fail"))["status"] == "failed"
    running_id = await s.world.conversation(system=PRIVATE["system prompt"])
    running_turn_id = await s.world.submit(running_id, "run")
    await s.world.wait_for_seq(running_id, 6)
    shared = await s.client.post(
        f"{path}/shares",
        content=b"{}",
        headers={"content-type": "application/json"} | bearer(OWNER),
    )
    return {
        "conversation_id": conversation_id,
        "attachment_id": attachment_id,
        "turn_id": turn["id"],
        "running_id": running_id,
        "running_turn_id": running_turn_id,
        "share_id": json_of(shared)["id"],
        "share": json_of(shared)["secret"],
        "name": "block.json",
        "token_name": "nobody",
    }


def leaks(answered: list[Answered], words: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return who was told what, by which request."""
    return [
        (it.audience, f"{it.target.method} {it.target.url}", what)
        for it in answered
        for what, word in words.items()
        if word.lower().encode() in it.sent.lower()
    ]


class Told(NamedTuple):
    """Everything that left a gateway while everybody asked for everything.

    Attributes:
        answered: Answers, the owner's too.
        live: What readers got who were there all the time.
        logged: Logs of all levels, with all that is attached to a record.
        secrets: Secrets that the gateway made.
    """

    answered: list[Answered]
    live: bytes
    logged: str
    secrets: list[str]


# What an owner asks: it shows that each word is there to be found.
OWNERS_QUESTIONS: Final = (
    "read_conversation", "read_turn", "list_messages", "read_events", "list_turns",
    "download_attachment", "export_conversation",
)  # fmt: skip
# What is asked of a conversation whose turn still runs.
RUNNING_QUESTIONS: Final = (
    "read_conversation",
    "list_messages",
    "read_turn",
    "export_conversation",
)


async def ask_running(canary: Canary, audience: str, headers: Mapping[str, str]) -> None:
    """Ask about a conversation in which a turn runs: as it stands, and live with a snapshot."""
    places = {
        **canary.places,
        "conversation_id": canary.places["running_id"],
        "turn_id": canary.places["running_turn_id"],
    }
    for name in RUNNING_QUESTIONS:
        for query in (CALLBOOK[name].query, *CALLBOOK[name].variants):
            await canary.ask(audience, target_of(name, places, query), headers)
    page = target_of("read_events", places, "")
    await canary.ask(audience, page, {**headers, "accept": "application/json"})
    live = target_of("read_events", places, "snapshot=1")
    named = {name.replace("-", "_"): value for name, value in headers.items()}
    peer: Peer = await canary.connect(live.url, **named)
    await peer.until_type("conversation.snapshot")
    canary.answered.append(Answered(audience, live, peer.status, peer.raw))
    peer.leave()


async def ask_all(canary: Canary) -> Told:
    """Let everybody ask for everything."""
    s, places = canary.s, canary.places
    reader, owner = bearer(READER), bearer(OWNER)
    path = f"/v1/conversations/{places['conversation_id']}"
    ticket = json_of(await s.client.post(f"{path}/tickets", headers=reader))["ticket"]
    watching: list[Peer] = []
    for more, headers in ((f"&ticket={ticket}", {}), ("", reader)):
        watching.append(await canary.connect(f"{path}/events?after=now{more}", **headers))
        await watching[-1].until_count(1)
    for name in OWNERS_QUESTIONS:
        for query in (CALLBOOK[name].query, *CALLBOOK[name].variants):
            await canary.ask("owner", target_of(name, places, query), owner)
    await ask_running(canary, "owner", owner)
    share, wrong = bearer(places["share"]), bearer(HIDDEN["a token that is wrong"])
    for audience, guest in (("share", share), ("nobody", {}), ("a wrong token", wrong)):
        await canary.ask_everything(audience, guest, "")
    by_ticket = target_of("read_events", places, f"until=idle&ticket={ticket}")
    await canary.ask("ticket", by_ticket, {})
    await ask_running(canary, "public", reader)
    await canary.ask_everything("public", reader, "view=public")
    secrets = [ticket, places["share"]]
    # The one before took the conversation away.
    places.update(await _fill(s))
    await canary.ask_everything("owner, less", owner, "view=public")
    secrets += [secret_in(it.sent) for it in canary.answered if b'"token":"bw_' in it.sent]
    return Told(canary.answered, b"".join(peer.raw for peer in watching), "", secrets)


@pytest.fixture
async def told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Told:
    caplog.set_level(logging.DEBUG)
    for folder in ("store", "tmp", "cwd"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path / "cwd")
    async with full(tmp_path / "store" / "store.db") as canary:
        told = await ask_all(canary)
    # What the client of these tests logs is none of the gateway's.
    records = [record for record in caplog.records if not record.name.startswith("http")]
    assert records
    return told._replace(logged="".join(repr(vars(record)) for record in records))


def files_with(folder: Path, words: Iterable[str], *, is_store: bool) -> list[tuple[str, str]]:
    """Return the store's own files, or all others, that hold one of the words."""
    return [
        (file.name, word)
        for file in folder.rglob("*")
        if file.is_file() and file.name.startswith("store.db") == is_store
        for word in words
        if word.encode() in file.read_bytes()
    ]


@pytest.mark.requirement("auth:canary:answers", "auth:canary:elsewhere", "auth:tokens:hidden")
async def test_nothing_private_leaves_by_any_route(told: Told, tmp_path: Path) -> None:
    everything = PRIVATE | HIDDEN | HOUSEKEEPING
    by_owner = [it for it in told.answered if it.audience == "owner"]
    by_others = [it for it in told.answered if it.audience != "owner"]
    by_guests = [it for it in by_others if it.audience == "share"]

    # The words are there, and the search finds them.
    assert {what for _who, _how, what in leaks(by_owner, PRIVATE | HOUSEKEEPING)} == {
        *PRIVATE,
        *HOUSEKEEPING,
    }
    assert any(VISIBLE.encode() in it.sent for it in by_guests)
    assert {it.target.method for it in by_others} == {"GET", "POST", "PATCH", "DELETE"}
    # They are nowhere else.
    assert leaks(by_others, PRIVATE) == []
    assert leaks(told.answered, HIDDEN) == []
    assert leaks(by_guests, HOUSEKEEPING) == []
    assert [it.target.url for it in told.answered if it.status >= 500] == []
    assert [what for what, word in (PRIVATE | HIDDEN).items() if word.encode() in told.live] == []
    assert [what for what, word in everything.items() if word in told.logged] == []
    assert [secret for secret in told.secrets if secret in told.logged] == []
    assert files_with(tmp_path, everything.values(), is_store=False) == []
    # The store itself has what is private, and no secret.
    assert files_with(tmp_path, [PRIVATE["reasoning"]], is_store=True)
    assert len(told.secrets) == 3
    assert files_with(tmp_path, [*HIDDEN.values(), *told.secrets], is_store=True) == []


@pytest.mark.requirement("auth:canary:answers")
async def test_a_search_for_what_is_private_is_a_search_for_nothing(tmp_path: Path) -> None:
    async with full(tmp_path / "store.db") as canary:
        for headers, view in ((bearer(READER), ""), (bearer(OWNER), "&view=public")):
            answers = set()
            for word in (*PRIVATE.values(), "WordThatStandsNowhere"):
                for query in (f"q={word}", f'q="{word}"', f"q={word[:-4]}*"):
                    target = target_of("search", canary.places, query + view)
                    answers.add((await canary.ask("public", target, headers)).sent)
            # Not even how it is not found tells them apart.
            assert len({sent.partition(b"date")[0] for sent in answers}) == 1, answers
            visible = target_of("search", canary.places, f"q={VISIBLE}{view}")
            assert VISIBLE.encode() in (await canary.ask("public", visible, headers)).sent


def secret_in(sent: bytes) -> str:
    """Return the secret of a new token."""
    return sent.partition(b'"token":"')[2].partition(b'"')[0].decode()
