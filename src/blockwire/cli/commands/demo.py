"""``blockwire demo``."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import Final, NamedTuple

import anyio
import click

from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.options import COLOR_OPTION, WIDTH_OPTION, options
from blockwire.cli.output import write
from blockwire.cli.screens import TurnPrinter, question_message
from blockwire.cli.stage import Proxy, Stage
from blockwire.cli.terminals import ColorFlag, Screen, screen_of
from blockwire.client import AsyncClient, ClientSettings, Turn
from blockwire.content import TurnState
from blockwire.jsontext import equal_json
from blockwire.render import Row, Span, Style, encode_row

SPEED_DEFAULT: Final = 3.0
PROGRAM: Final = "blockwire"
KILL_SPEED_MAX: Final = 20.0
"""At once is too fast to be killed in mid-answer."""


class Scene(NamedTuple):
    """One recorded answer, and what happens to it on its way."""

    recording: str
    question: str
    caption: str
    accident: str = ""


SCENES: Final = (
    Scene("prose-and-code", "What is a Bloom filter?", "Prose and code, streamed."),
    Scene(
        "tool-calls",
        "How long is the day in Tromsø, 札幌 and Quito?",
        "Tool calls; the connection is cut in mid-answer.",
        "cut",
    ),
    Scene(
        "reasoning",
        "Twelve coins, one of them false: are three weighings enough to find it?",
        "Reasoning; the gateway is killed (SIGKILL) in mid-answer and started again.",
        "kill",
    ),
)


@click.command()
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    default=SPEED_DEFAULT,
    show_default=True,
    help="2 is twice as fast as recorded, 0 at once.",
)
@click.option("--plain", is_flag=True, help="Plain text, as into a pipe.")
@options(COLOR_OPTION, WIDTH_OPTION)
def command(*, speed: float, plain: bool, color: ColorFlag, width: int | None) -> int:
    """Play three recorded answers through gateway, SQLite and SSE into this terminal.

    One connection is cut and one gateway is killed on the way. Afterwards every answer is held
    against what the store has: nothing may be lost, doubled or changed.
    """
    screen = screen_of(sys.stdout, flag=color, width=width)
    if plain:
        screen = screen._replace(
            is_terminal=False, look=screen.look._replace(escapes=False, colour=False)
        )
    return 0 if anyio.run(_play, screen, speed) else EXIT_FAILED


async def _play(screen: Screen, speed: float) -> bool:
    verdicts: list[str] = []
    with tempfile.TemporaryDirectory(prefix="blockwire-demo-") as folder:
        async with Stage(Path(folder) / "demo.db") as stage:
            settings = ClientSettings(stream_retry_s=0.2, stream_retry_s_max=1.0)
            async with AsyncClient(stage.proxy.url, settings=settings) as client:
                for number, scene in enumerate(SCENES, 1):
                    _say(screen, f"{number}/{len(SCENES)}  {scene.caption}", is_title=True)
                    # Whoever runs the demo owns it, and may see the reasoning.
                    printer = TurnPrinter(screen, with_reasoning=True, names_speakers=True)
                    show = _Show(stage, client, printer, scene, speed)
                    verdicts += await show.run()
                    write("\n")
                    for fact in show.facts:
                        _say(screen, fact)
                    write("\n")
    for verdict in verdicts:
        _say(screen, f"FAILED: {verdict}")
    if not verdicts:
        _say(screen, "Every answer equals what the store has, to the last character.")
        program = _program()
        _say(screen, f"Next: {program} ask 'hello', and {program} serve --help.")
    return not verdicts


def _program() -> str:
    """Return what starts this program where the person is: it may lie outside of the shell's path."""
    here = Path(sys.argv[0])
    if here.name != PROGRAM or shutil.which(PROGRAM) is not None:
        return PROGRAM
    with contextlib.suppress(ValueError):
        here = here.resolve().relative_to(Path.cwd())
    return str(here)


def _say(screen: Screen, text: str, *, is_title: bool = False) -> None:
    style = Style(bold=True) if is_title else Style(dim=True)
    mark = "" if is_title else "  "
    write(encode_row(Row((Span(f"{mark}{text}", style),)), screen.look) + "\n")
    if is_title:
        write("\n")


class _Show:
    """Plays one scene and keeps count."""

    def __init__(
        self, stage: Stage, client: AsyncClient, printer: TurnPrinter, scene: Scene, speed: float
    ) -> None:
        self._stage = stage
        self._client = client
        self._printer = printer
        self._scene = scene
        self._speed = speed
        self.facts: list[str] = []

    async def run(self) -> list[str]:
        """Play it and return what went wrong."""
        scene, client = self._scene, self._client
        speed = self._speed
        if scene.accident == "kill":
            speed = min(speed or KILL_SPEED_MAX, KILL_SPEED_MAX)
        conversation = await client.create_conversation(title=scene.caption)
        if scene.accident == "cut":
            self._stage.proxy.cut_after(Proxy.CUT_BYTES)
        turn = await client.submit(
            conversation.id,
            scene.question,
            engine="replay",
            options={"recording": scene.recording, "speed": speed},
        )
        write(self._printer.add_message(question_message(scene.question)))
        shown = await self._follow(turn)
        write(self._printer.finish())
        return await self._compare(turn, shown)

    async def _follow(self, turn: Turn) -> TurnState:
        last: TurnState | None = None
        has_happened = self._scene.accident != "kill"
        async with aclosing(self._client.follow(turn)) as states:
            async for state in states:
                last = state
                write(self._printer.show_turn(state))
                shown = sum(b.length_chars for b in state.blocks if b.type == "prose")
                if not has_happened and shown > self._stage.KILL_CHARS:
                    has_happened = True
                    await self._stage.kill_and_restart()
                    self.facts.append(
                        f"SIGKILL after {shown} characters of the answer; started again on the same store"
                    )
        assert last is not None, "following yields the end at least"
        return last

    async def _compare(self, turn: Turn, shown: TurnState) -> list[str]:
        stored = await self._client.read_turn(turn.conversation_id, turn.id)
        cuts = self._stage.proxy.take_cuts()
        if self._scene.accident == "cut":
            self.facts.append(f"connections cut: {cuts}; resumed from the last event each time")
        name = self._scene.recording
        wrong: list[str] = []
        if stored.message is None or not equal_json(shown.message, stored.message):
            wrong.append(f"{name}: what was shown is not what is stored")
        codes = [block.block.get("code") for block in shown.blocks if block.type == "error"]
        expected = ["turn_interrupted"] if self._scene.accident == "kill" else []
        self.facts += [f"error block in the answer: {code}" for code in codes]
        if codes != expected:
            wrong.append(f"{name}: errors are {codes}, not {expected}")
        if self._scene.accident == "cut" and not cuts:
            wrong.append(f"{name}: the connection was never cut")
        self.facts.append(f"turn {stored.status}; blocks: {len(shown.blocks)}; seq {stored.seq}")
        return wrong
