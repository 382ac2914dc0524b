"""``replay``: a recorded provider stream, with its timing; the demo and many tests.

Spec: docs/spec/gateway/engines.md, "Replay". The bytes go through the provider's own decoder, as
live ones do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import count
from pathlib import Path
from typing import Final

import anyio
from msgspec import Struct

from blockwire.content import StreamEvent
from blockwire.errors import EngineError, LocalProtocolError
from blockwire.ports import Clock, EngineRequest, IdFactory
from blockwire.providers import ProviderApi, Recording, make_decoder, parse_recording

__all__ = ["ReplayEngine", "ReplaySettings", "load_recordings"]

RECORDING_SUFFIXES: Final = (".sse", ".ndjson", ".timed.jsonl")


class ReplaySettings(Struct, frozen=True, kw_only=True):
    """What to play, and how fast.

    Attributes:
        recordings: By name, at least one.
        recording: The one for turns that name none; None lets them take turns.
        speed: 1 as recorded, 2 twice as fast, 0 at once.
    """

    recordings: Mapping[str, Recording]
    recording: str | None = None
    speed: float = 1.0


def load_recordings(path: str | None, *, api: ProviderApi | None = None) -> dict[str, Recording]:
    """Return recordings by name: what stands before the first dot of the file's name.

    Args:
        path: A file, or a folder of files; None for those that are part of the package.
        api: Wire format of files whose name does not tell it.

    Raises:
        LocalProtocolError: ``invalid_recording``; ``invalid_config`` when there is none.
    """
    place: Traversable = files("blockwire") / "recordings" if path is None else Path(path)
    try:
        recordings = {
            file.name.partition(".")[0]: parse_recording(file.read_bytes(), file.name, api=api)
            for file in _files(place)
        }
    except OSError as error:
        raise LocalProtocolError(
            "invalid_config", f"The recording cannot be read: {error.strerror}."
        ) from None
    if not recordings:
        raise LocalProtocolError(
            "invalid_config", f"There is no recording there: no *{', *'.join(RECORDING_SUFFIXES)}."
        )
    return recordings


def _files(place: Traversable) -> Iterator[Traversable]:
    if not place.is_dir():
        yield place
        return
    for file in sorted(place.iterdir(), key=lambda file: file.name):
        if file.name.endswith(RECORDING_SUFFIXES):
            yield file


class ReplayEngine:
    """Plays recordings as if they came from a provider.

    A turn names one by its option ``recording``, else by its model, else by the setting;
    otherwise they take turns. Its option ``speed`` goes before the setting.

    Args:
        settings: What, and how fast.
        ids: Makes the ids of blocks.
        clock: Keeps the pace.
        redact: Returns a text without credentials.
        sleep: Waits for so many seconds.
    """

    def __init__(
        self,
        settings: ReplaySettings,
        *,
        ids: IdFactory,
        clock: Clock,
        redact: Callable[[str], str],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._settings = settings
        self._ids = ids
        self._clock = clock
        self._redact = redact
        self._sleep = sleep
        self._turns = count()

    async def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of a recording at the times at which its bytes came.

        Raises:
            EngineError: ``recording_not_found``, ``invalid_option``.
        """
        recording = self._choose(request)
        speed = self._speed(request)
        decoder = make_decoder(
            recording.api, turn_id=request.turn_id, new_id=self._ids.new_id, redact=self._redact
        )
        started_s = self._clock.monotonic_s()
        for at_ms, data in recording.chunks:
            due_s = started_s + at_ms / 1000 / speed if speed else 0
            # Also at once the others get their turn.
            await self._sleep(max(0, due_s - self._clock.monotonic_s()) if speed else 0)
            for event in decoder.receive_data(data):
                yield event
        for event in decoder.receive_eof():
            yield event

    def _choose(self, request: EngineRequest) -> Recording:
        recordings = self._settings.recordings
        name = request.options.get("recording")
        if name is None and request.model in recordings:
            name = request.model
        if name is None:
            name = self._settings.recording
        if name is None:
            name = list(recordings)[next(self._turns) % len(recordings)]
        if not isinstance(name, str) or name not in recordings:
            raise EngineError(
                "recording_not_found",
                f"There is no such recording; there are {', '.join(recordings)}.",
            )
        return recordings[name]

    def _speed(self, request: EngineRequest) -> float:
        speed = request.options.get("speed", self._settings.speed)
        if isinstance(speed, bool) or not isinstance(speed, int | float) or speed < 0:
            raise EngineError("invalid_option", "The option speed is a number, not negative.")
        return speed

    async def aclose(self) -> None:
        """Have nothing to let go of."""
