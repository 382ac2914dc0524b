"""The two terminal programs: a streamed answer, floods of output, and a long history."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final, NamedTuple

from bench.figures import Figure
from bench.terminal_answer import AnswerCost, measure_answer
from bench.terminal_flood import FloodRates, floods, has_tmux, measure_floods
from bench.terminal_history import BLOCK_CHARS, HistoryCosts, block_bytes, measure_history
from bench.terminal_text import answer_tokens
from blockwire.cli.system import tune_interpreter

__all__ = ["measure_terminal_ui"]

FLAT: Final = 1.3
"""A token of the longest answer, by one of the shortest."""

PEER_SHARE: Final = 0.1
"""A token of ours, by one of a peer."""

COMPARED_TOKENS: Final = 8_000

FRAME_MS: Final = 16
RESIZE_MS: Final = 50
SEARCH_MS: Final = 1_000
FILL_PER_S: Final = 10_000

ALLOWED_BYTES: Final = 1_312
"""Of a Block beside its text: 600 and an operation id of 200 as for the endpoint alone, 512 for its rows."""
TEXT_FACTOR: Final = 3


class _Sizes(NamedTuple):
    lengths: tuple[int, ...]
    rounds: int
    rich_samples: int
    textual_lengths: tuple[int, ...]
    textual_samples: int
    flood_bytes: int
    flood_rounds: int
    blocks: int
    memory_blocks: int


FULL: Final = _Sizes(
    (500, 2_000, 8_000, 32_000), 2, 10, (500, 2_000, 8_000), 25, 8_000_000, 2, 100_000, 10_000
)
QUICK: Final = _Sizes((500, 2_000), 2, 5, (2_000,), 10, 1_000_000, 1, 20_000, 2_000)

# What is held of the bare library, which draws nothing and keeps no row, and of tmux, which keeps a
# row as cells and a history of 2,000 rows; neither shows a Block. Set somewhat below what was measured,
# to see it when something becomes slower.
FLOOD_REACH: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {"plain": (0.008, 0.1), "SGR-heavy": (0.01, 0.1), "Block-heavy": (0.0015, 0.08)}
)


class _Peer(NamedTuple):
    library: str
    name: str
    part: str


RICH: Final = _Peer("rich", "Rich", "Live(Markdown)")
TEXTUAL: Final = _Peer("textual", "Textual", "MarkdownStream")


def measure_terminal_ui(*, quick: bool) -> list[Figure]:
    """Measure all of it; a peer that is not installed is left out, and said so."""
    sizes = QUICK if quick else FULL
    with _tuned():
        return [*_answer(sizes), *_floods(sizes), *_history(sizes)]


@contextmanager
def _tuned() -> Iterator[None]:
    """Have the interpreter as ``blockwire term`` has it."""
    interval_s, thresholds = sys.getswitchinterval(), gc.get_threshold()
    tune_interpreter()
    try:
        yield
    finally:
        sys.setswitchinterval(interval_s)
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _skip(what: str, reason: str) -> None:
    print(f"terminal_ui: no {what}: {reason}", file=sys.stderr)


def _answer(sizes: _Sizes) -> Iterator[Figure]:
    costs = measure_answer(sizes.lengths, sizes.rounds)
    first, last = costs[sizes.lengths[0]], costs[sizes.lengths[-1]]
    peer_name = f"at {sizes.lengths[0]:,}"
    for length in sizes.lengths[1:]:
        cost = costs[length]
        yield Figure(
            what=f"streamed answer, a token at {length:,}: to the screen", ours=cost.both_us,
            unit="us", peer=first.both_us, peer_name=peer_name, reach=FLAT, note=_told(cost),
        )  # fmt: skip
    for side, ours, peer in (
        ("application", last.application_us, first.application_us),
        ("host", last.host_us, first.host_us),
    ):
        yield Figure(
            what=f"streamed answer, a token at {sizes.lengths[-1]:,}: {side}", ours=ours, unit="us",
            peer=peer, peer_name=peer_name, reach=FLAT,
        )  # fmt: skip
    yield from _beside(RICH, costs, sizes.lengths, sizes.rich_samples)
    yield from _beside(TEXTUAL, costs, sizes.textual_lengths, sizes.textual_samples)


def _told(cost: AnswerCost) -> str:
    return (
        f"{cost.application_us:.0f} us and {cost.frame_bytes:.0f} bytes of frames of the application, "
        f"{cost.host_us:.0f} us and {cost.painted_bytes:.0f} bytes painted of the host"
    )


def _beside(
    peer: _Peer, costs: Mapping[int, AnswerCost], lengths: Sequence[int], samples: int
) -> Iterator[Figure]:
    name = peer.name
    if find_spec(peer.library) is None:
        _skip(name, "it is not installed")
        return
    # Only here: it imports the library.
    token_us = import_module(f"bench.terminal_{peer.library}").token_us
    tokens = answer_tokens(max(lengths))
    spent_us = {length: token_us(tokens[:length], samples) for length in lengths}
    at = max(length for length in lengths if length <= COMPARED_TOKENS)
    told = ", ".join(f"{length:,} tokens: {us / 1e3:.1f} ms" for length, us in spent_us.items())
    yield Figure(
        what=f"streamed answer, a token at {at:,}: beside {name}", ours=costs[at].both_us, unit="us",
        peer=spent_us[at], peer_name=f"{name} {peer.part}", reach=PEER_SHARE, note=f"{name}: {told}",
    )  # fmt: skip


def _floods(sizes: _Sizes) -> Iterator[Figure]:
    if not has_tmux():
        _skip("tmux", "it is not installed")
    for name, data in floods(sizes.flood_bytes).items():
        rates: FloodRates = measure_floods(data, sizes.flood_rounds)
        library_reach, tmux_reach = FLOOD_REACH[name]
        size = f"{sizes.flood_bytes / 1e6:.0f} MB of {name} output"
        yield Figure(
            what=f"{size}: the host's session", ours=rates.core, unit="MB/s", peer=rates.library,
            peer_name="pyghostty alone", reach=library_reach, more_is_better=True,
            note="of a processor's second, frames at 60 Hz included",
        )  # fmt: skip
        walls = f"by the wall {rates.term_wall:.1f} MB/s"
        if rates.tmux_wall is not None:
            walls += f", tmux {rates.tmux_wall:.1f} MB/s"
        yield Figure(
            what=f"{size}: blockwire term", ours=rates.term, unit="MB/s", peer=rates.tmux,
            peer_name="tmux", reach=tmux_reach, more_is_better=True, note=walls,
        )  # fmt: skip


def _history(sizes: _Sizes) -> Iterator[Figure]:
    cost: HistoryCosts = measure_history(sizes.blocks)
    many = f"{sizes.blocks:,} Blocks"
    yield Figure(
        what=f"{many}: taken in", ours=cost.fill_blocks_per_s, unit="Blocks/s", peer=FILL_PER_S,
        peer_name="limit", reach=1, more_is_better=True,
    )  # fmt: skip
    for what, ours, limit in (
        ("a notch of the wheel to its frame, p95", cost.scroll_ms, FRAME_MS),
        ("a page up to its frame, p95", cost.page_ms, FRAME_MS),
        ("one more to its frame, p95", cost.append_ms, FRAME_MS),
        ("a key, its echo, its frame, p95", cost.key_ms, FRAME_MS),
        ("a key of a search to its frame, longest", cost.search_key_ms, FRAME_MS),
        ("a step of what can wait, longest", cost.slice_ms, FRAME_MS),
        ("another width to its first frame, longest", cost.resize_ms, RESIZE_MS),
        ("all searched, in steps", cost.search_ms, SEARCH_MS),
    ):
        yield Figure(
            what=f"{many}: {what}", ours=ours, unit="ms", peer=limit, peer_name="limit", reach=1
        )
    for what, written, note in (
        ("updates far away", cost.far_bytes, f"each takes {cost.far_us:.0f} us"),
        ("a thousand idle frames", cost.idle_bytes, ""),
    ):
        yield Figure(
            what=f"{many}: {what}", ours=written, unit="B written", peer=1, peer_name="limit",
            reach=0, note=note,
        )  # fmt: skip
    kept_bytes, text_bytes = block_bytes(sizes.memory_blocks)
    yield Figure(
        what=f"memory of a Block of {BLOCK_CHARS} characters in the host", ours=kept_bytes, unit="B",
        peer=TEXT_FACTOR * text_bytes + ALLOWED_BYTES, peer_name="allowed", reach=1,
        note=f"rows are counted anew after a resize in {cost.refine_ms:.0f} ms, when nothing else is to do",
    )  # fmt: skip
