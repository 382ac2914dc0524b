"""One block model for agent conversations, from the model's stream to every screen.

A provider's bytes become stream events, the events a durable log, the log a message that looks
the same to every reader: through REST, through server-sent events, and after a restart.

The rooms of the house, lowest first; each imports only from rooms below its own line::

    cli | testing
    gateway | client | engines | stores | buses      all I/O lives on this line
    ------------------------------------------------------------------------------
    render | providers | ports                       no I/O, no clock, no randomness
    content | sse
    jsontext | text
    errors

Programs that talk to a gateway need no more than ``from blockwire import Client`` (or
``AsyncClient``). The names below are imported when they are asked for, because the client brings an
HTTP library along and most rooms need nothing of it; ``__init__.pyi`` tells type checkers of them.
"""

from importlib import import_module
from typing import Final

__all__ = [  # noqa: F822 - __getattr__ brings them
    "AsyncClient",
    "BlockwireError",
    "Client",
    "ClientError",
    "__version__",
]

__version__: Final = "0.1.0"

# name -> the room that it comes from
_ROOMS: Final = {
    "AsyncClient": "blockwire.client",
    "BlockwireError": "blockwire.errors",
    "Client": "blockwire.client",
    "ClientError": "blockwire.client",
}


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
