"""Recordings play as if they came from a provider, at their own pace or another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from blockwire.engines import (
    ExternalEngine,
    ReplayEngine,
    ReplaySettings,
    load_recordings,
)
from blockwire.errors import EngineError, LocalProtocolError
from blockwire.providers import Recording
from tests.engines.tools import (
    CountingIds,
    ManualTime,
    collect,
    fold,
    guarded,
    request,
)

pytestmark = pytest.mark.anyio


def said(word: str) -> bytes:
    return f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{word}"}}}}]}}\n\n'.encode()


def recording(*words: str) -> Recording:
    chunks = [(1000 * (i + 1), said(word)) for i, word in enumerate(words)]
    chunks.append((1000 * (len(words) + 1), b"data: [DONE]\n\n"))
    return Recording("openai-chat", tuple(chunks))


TWO = {"first": recording("one", " two"), "second": recording("three")}


def engine(time: ManualTime, **settings: Any) -> ReplayEngine:
    values = {"recordings": TWO, **settings}
    return ReplayEngine(
        ReplaySettings(**values), ids=CountingIds(), clock=time, redact=str, sleep=time.sleep
    )


async def answer(runner: ReplayEngine, **members: Any) -> str:
    message = fold(await collect(guarded(runner.run(request(**members)))))
    assert message["status"] == "completed"
    return str(message["content"][0]["markdown"])


@pytest.mark.parametrize(("speed", "slept"), [(1, [1, 1, 1]), (2, [0.5, 0.5, 0.5]), (0, [0, 0, 0])])
async def test_a_recording_keeps_its_pace(speed: float, slept: list[float]) -> None:
    time = ManualTime()

    assert await answer(engine(time, speed=speed, recording="first")) == "one two"

    assert time.slept == slept


async def test_a_slow_reader_does_not_make_the_recording_later() -> None:
    time = ManualTime()
    events = engine(time, recording="first").run(request())
    with anyio.fail_after(15):
        await anext(events)
        time.now_s += 0.75
        await collect(events)

    assert time.slept == [1, 0.25, 1]


async def test_a_turn_may_set_the_pace() -> None:
    time = ManualTime()

    await answer(engine(time), options={"speed": 4})

    assert time.slept[0] == 0.25


async def test_recordings_take_turns() -> None:
    runner = engine(ManualTime())

    assert [await answer(runner) for _ in range(3)] == ["one two", "three", "one two"]


@pytest.mark.parametrize(
    ("settings", "members", "text"),
    [
        ({"recording": "second"}, {}, "three"),
        ({"recording": "second"}, {"model": "first"}, "one two"),
        ({"recording": "first"}, {"model": "first", "options": {"recording": "second"}}, "three"),
        ({"recording": "second"}, {"model": "some-model"}, "three"),
    ],
)
async def test_a_turn_chooses_its_recording(
    settings: dict[str, Any], members: dict[str, Any], text: str
) -> None:
    assert await answer(engine(ManualTime(), **settings), **members) == text


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"recording": "third"}, "recording_not_found"),
        ({"recording": 1}, "recording_not_found"),
        ({"speed": "fast"}, "invalid_option"),
        ({"speed": -1}, "invalid_option"),
        ({"speed": True}, "invalid_option"),
    ],
)
async def test_a_turn_that_asks_for_what_is_not_there_is_told(
    options: dict[str, Any], code: str
) -> None:
    with pytest.raises(EngineError) as caught:
        await collect(engine(ManualTime()).run(request(options=options)))

    assert caught.value.code == code


async def test_the_recordings_of_the_demo_play_to_a_good_end() -> None:
    recordings = load_recordings(None)
    runner = engine(ManualTime(), recordings=recordings)

    assert len(recordings) >= 3
    for name in recordings:
        seen = await collect(guarded(runner.run(request(options={"recording": name}))))
        assert fold(seen)["status"] == "completed", name
    await runner.aclose()


def test_a_file_or_a_folder_of_recordings_is_read(tmp_path: Path) -> None:
    body = said("hello") + b"data: [DONE]\n\n"
    (tmp_path / "one.openai-chat.sse").write_bytes(body)
    (tmp_path / "two.openai-chat.sse").write_bytes(body)
    (tmp_path / "README.md").write_text("no recording", encoding="utf-8")

    assert list(load_recordings(str(tmp_path))) == ["one", "two"]
    assert list(load_recordings(str(tmp_path / "one.openai-chat.sse"))) == ["one"]


def test_a_file_without_the_name_of_an_api_needs_a_setting(tmp_path: Path) -> None:
    (tmp_path / "plain.sse").write_bytes(said("hello"))

    assert load_recordings(str(tmp_path), api="openai-chat")["plain"].api == "openai-chat"
    with pytest.raises(LocalProtocolError) as caught:
        load_recordings(str(tmp_path))
    assert caught.value.code == "invalid_recording"


def test_no_recording_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone.sse"):
        with pytest.raises(LocalProtocolError) as caught:
            load_recordings(str(path))
        assert caught.value.code == "invalid_config"


async def test_an_external_turn_waits_until_it_is_stopped() -> None:
    runner = ExternalEngine()
    events = runner.run(request())

    with anyio.move_on_after(0.01) as scope:
        await anext(events)

    assert scope.cancelled_caught
    await events.aclose()
    await runner.aclose()
