"""What an engine lacks before it can answer, as far as that shows without asking it.

Spec: docs/reference/engines.md. ``doctor`` tells it of every engine, ``serve`` of the one that
answers; a turn would fail with the same reasons.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from typing import cast

from blockwire.engines.endpoints import ENDPOINTS, ProviderKind
from blockwire.engines.settings import EngineConfig

__all__ = ["lacks"]


def lacks(engine: EngineConfig, env: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each thing that ``engine`` lacks, with what to do about it.

    Args:
        engine: Checked.
        env: Environment of the gateway.
    """
    if engine.kind in ENDPOINTS:
        yield from _provider_lacks(engine, env)
    elif engine.kind == "command":
        yield from _program_lacks(engine, env)


def _provider_lacks(engine: EngineConfig, env: Mapping[str, str]) -> Iterator[str]:
    endpoint = ENDPOINTS[cast("ProviderKind", engine.kind)]
    variable = engine.values["api_key_env"] or endpoint.key_name
    if endpoint.needs_key and not (engine.values["api_key"] or env.get(variable)):
        yield f"no key: set {variable}"
    if not engine.values["model"]:
        yield "no model: set `model`, or name one with each question (blockwire ask --model NAME)"


def _program_lacks(engine: EngineConfig, env: Mapping[str, str]) -> Iterator[str]:
    words: list[str] | str = engine.values["command"]
    if isinstance(words, str):
        with contextlib.suppress(ValueError):
            words = shlex.split(words)
    # A path is one of the program's working directory; what the wiring refuses is told there.
    if not isinstance(words, str) and words and os.sep not in words[0]:
        path = engine.values["env"].get("PATH", env.get("PATH"))
        if shutil.which(words[0], path=path) is None:
            yield f"the program {words[0]} was not found: install it, or correct `command`"
