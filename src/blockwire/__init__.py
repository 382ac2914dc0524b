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
"""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.1.0"
