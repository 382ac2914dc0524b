"""Reading the configuration again while the gateway runs.

Spec: docs/spec/gateway/operations.md, "Reload". Everything is read and made before anything is changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from blockwire.cli.logs import set_up_logging
from blockwire.cli.parts import AuthParts, auth_of, engines_of, http_settings_of
from blockwire.cli.settings import SETTINGS, Config
from blockwire.cli.wiring import Gateway
from blockwire.errors import BlockwireError
from blockwire.gateway import Token

__all__ = ["Reloader", "changes_of", "token_changes"]

_log: Final = logging.getLogger(__name__)

HIDDEN: Final = "(hidden)"

# Of commands that talk to a gateway; serve does not look at them.
_CLIENT: Final = frozenset({"url", "token"})


class Reloader:
    """Applies configurations to a gateway that runs.

    Args:
        gateway: Which.
        config: What it was started with.
        read: Reads the configuration again.
        tell: Says something to whoever runs the gateway.
    """

    def __init__(
        self,
        gateway: Gateway,
        config: Config,
        *,
        read: Callable[[], Config],
        tell: Callable[[str], None],
    ) -> None:
        self._gateway = gateway
        self._config = config
        self._tokens = gateway.tokens
        # The bind stays what it was, whatever a file says later.
        self._host: str = config["host"]
        self._read = read
        self._tell = tell

    def reload(self) -> bool:
        """Take a new configuration; return False, having changed nothing, when it is wrong."""
        try:
            new = self._read()
            parts = auth_of(new, host=self._host, key=self._gateway.key)
            parts.auth.check_bind(self._gateway.service.keyring)
            self._apply(new, parts)
        except BlockwireError as error:
            self._tell(f"the configuration was not taken: {error.detail} [{error.code}]")
            _log.error("the configuration was not taken: %s", error.code)
            return False
        changes = [*changes_of(self._config, new), *token_changes(self._tokens, parts.tokens)]
        self._config, self._tokens = new, parts.tokens
        for sentence in changes or ["the configuration was read again; nothing has changed"]:
            self._tell(sentence)
        for warning in parts.warnings:
            self._tell(f"warning: {warning}")
        _log.info("the configuration was read again", extra={"members": {"changes": len(changes)}})
        return True

    def _apply(self, new: Config, parts: AuthParts) -> None:
        gateway = self._gateway
        # First what may be wrong, then what cannot fail.
        if new.engines != self._config.engines or new["engine"] != self._config["engine"]:
            engines = engines_of(new, clock=gateway.clock, ids=gateway.ids)
            gateway.service.use_engines(engines)
        gateway.app.use(parts.auth, http_settings_of(new))
        gateway.service.observer.logs_requests = new["access_log"] == "on"
        set_up_logging(new["log_level"], new["log_format"])


def changes_of(old: Config, new: Config) -> Iterator[str]:
    """Yield a sentence for each setting and each engine that is another now."""
    for name, setting in SETTINGS.items():
        if name in _CLIENT or old[name] == new[name]:
            continue
        shown = [HIDDEN] * 2 if setting.is_secret else [_shown(old[name]), _shown(new[name])]
        restart = "" if setting.is_live else "; this takes a restart"
        yield f"{name}: {shown[0]} -> {shown[1]}{restart}"
    for engine in sorted({*old.engines, *new.engines}):
        was, now = old.engines.get(engine), new.engines.get(engine)
        if was is None or now is None:
            yield f"engine {engine}: {'new' if was is None else 'gone'}"
        elif was != now:
            # Which keys, and no values: an engine's may be secrets.
            keys = sorted(key for key in {*was, *now} if was.get(key) != now.get(key))
            yield f"engine {engine}: {', '.join(keys)}"


def token_changes(old: Sequence[Token], new: Sequence[Token]) -> Iterator[str]:
    """Yield a sentence for each token of the file that is new, gone or another."""
    before, after = ({token.name: token for token in tokens} for tokens in (old, new))
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            state = "changed"
            if name not in before or name not in after:
                state = "new" if name in after else "gone"
            yield f"token {name}: {state}"


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
