"""The application's end of terminal blocks: hostile input, damaged answers, lost operations."""

from __future__ import annotations

import random
from typing import Final

from blockwire.errors import LocalProtocolError
from blockwire.terminal import (
    AppendOnlyFallback,
    Application,
    BlockFailed,
    BlockHandle,
    ContextHandle,
    ContextLost,
    Endpoint,
    Input,
    News,
    Operation,
    PassThrough,
    Reply,
    TerminalSession,
)
from blockwire.terminal.decoder import RETAINED_BYTES_MAX
from blockwire.terminal.terminalinput import DA1_BYTES_MAX, DA1_REQUEST
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED, OperationErrorCode
from fuzz.chances import damaged, pieces, text

__all__ = ["application"]

STEPS: Final = 40
DA1_ANSWER: Final = b"\x1b[?62;22c"
_CODES: Final[tuple[OperationErrorCode, ...]] = (
    "resource_exhausted", "internal_error", "content_state_mismatch", "block_not_found",
)  # fmt: skip


class _Game:
    """An application and a terminal that may lie, lose its temper or be damaged on the way."""

    def __init__(self, chance: random.Random, *, honest: bool) -> None:
        self.chance = chance
        self.honest = honest
        self.now_s = 0.0
        self.context_count = 0
        self.application = Application(
            process_id=f"{chance.getrandbits(96):024x}", fallback=AppendOnlyFallback()
        )
        self.endpoint = Endpoint(
            TerminalSession(
                new_context_id=self._new_context_id, optional_content_types=(STYLED, LINES)
            ),
            decide=self._decide,
        )
        self.typed = b""
        self.pressed = b""
        self.lost: set[ContextHandle] = set()
        self.failed: set[BlockHandle] = set()
        self.blocks: list[BlockHandle] = []

    def _new_context_id(self) -> str:
        self.context_count += 1
        return f"c{self.context_count}"

    def _decide(self, _operation: Operation) -> OperationErrorCode | None:
        return self.chance.choice(_CODES) if self.chance.random() < 0.1 else None

    def learn(self, news: list[News]) -> None:
        for event in news:
            match event:
                case Input(data=data):
                    self.typed += data
                case ContextLost(context=context):
                    assert context not in self.lost, "lost twice"
                    self.lost.add(context)
                case BlockFailed(block=block):
                    assert block not in self.failed, "failed twice"
                    self.failed.add(block)
                case _:
                    pass

    def exchange(self) -> None:
        """Write, and read what the terminal answers, in whatever state that arrives."""
        answers = b""
        for effect in self.endpoint.receive_data(self.application.data_to_send(self.now_s)):
            if isinstance(effect, Reply):
                answers += effect.data
            elif isinstance(effect, PassThrough):
                answers += DA1_ANSWER * effect.data.count(DA1_REQUEST)
        if self.honest:
            # Letters and no more: with anything else nobody could say what is whose.
            key = self.chance.choice((b"", b"k", b"\xc3\xa9"))
            self.pressed += key
            answers = key + answers if self.chance.random() < 0.5 else answers + key
        elif self.chance.random() < 0.5:
            answers = damaged(self.chance, answers, (DA1_ANSWER, b"\x1b[200~", b"\x1b[201~"))
        for piece in pieces(self.chance, answers):
            self.learn(self.application.receive_input(piece, self.now_s))
            assert self.application.retained_bytes <= RETAINED_BYTES_MAX + DA1_BYTES_MAX, (
                "memory grows"
            )

    def tick(self) -> None:
        self.now_s += self.chance.choice((0.01, 0.06, 0.5)) * (not self.honest)
        self.learn(self.application.tick(self.now_s))
        due_s = self.application.next_tick_at_s
        assert due_s is None or due_s > self.now_s, "it asks for a tick that was"


def application(chance: random.Random) -> None:
    """Nothing that arrives raises; and what has not failed is shown as the program left it."""
    game = _Game(chance, honest=chance.random() < 0.5)
    game.application.negotiate()
    contexts: list[ContextHandle] = []
    for _ in range(STEPS):
        match chance.randrange(6):
            case 0 if game.application.stage in {"blocks", "fallback"} and len(contexts) < 3:
                contexts.append(game.application.open_context())
            case 1:
                game.exchange()
            case 2:
                game.tick()
            case _:
                _change(game, contexts)
    for _ in range(4):
        game.exchange()
    if game.honest:
        _check(game)
    game.learn(game.application.end_of_input())


def _change(game: _Game, contexts: list[ContextHandle]) -> None:
    chance = game.chance
    usable = [it for it in contexts if it.state == "open"]
    if not usable:
        return
    context = chance.choice(usable)
    try:
        if not game.blocks or chance.random() < 0.2:
            game.blocks.append(context.append(text(chance)))
            return
        block = chance.choice(game.blocks)
        match chance.randrange(8):
            case 0:
                block.seal()
            case 1:
                block.update(text(chance))
            case 2:
                block.update([{"text": text(chance)}], type=STYLED)
            case 3:
                block.replace_suffix(chance.randrange(10), text(chance))
            case 4 if chance.random() < 0.05:
                context.close()
            case _ if block.type == PLAIN:
                block.extend(text(chance))
            case _:
                block.extend([{"text": text(chance), "style": {"foreground": "red"}}])
    except LocalProtocolError:
        # Sealed, failed, lost, of another type, or too short: said at once.
        return


def _check(game: _Game) -> None:
    assert game.typed == game.pressed, f"{game.pressed!r} was typed, and {game.typed!r} read"
    for block in game.blocks:
        if block.failure is None and block.context.state == "open" and block.content is not None:
            shown = game.endpoint.session.contexts[block.context.context_id].blocks[block.block_id]
            assert shown.content is not None, "nobody trims here"
            assert shown.content.data() == block.content.data(), "the terminal shows another text"
