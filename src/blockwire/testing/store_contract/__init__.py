"""What every store keeps; subclass :class:`StoreContract` to run it against another one.

Spec: docs/spec/gateway/persistence.md. Needs pytest with anyio's plugin and a fixture ``store`` that
gives an open, empty :class:`~blockwire.ports.Store`.
"""

from __future__ import annotations

from blockwire.testing.store_contract.access import AccessContract
from blockwire.testing.store_contract.conversations import ConversationContract
from blockwire.testing.store_contract.forks import ForkContract
from blockwire.testing.store_contract.imports import ImportContract
from blockwire.testing.store_contract.life import LifeContract
from blockwire.testing.store_contract.messages import MessageContract
from blockwire.testing.store_contract.numbers import NumberContract
from blockwire.testing.store_contract.pages import PageContract
from blockwire.testing.store_contract.reading import (
    decode_frames,
    list_messages,
    numbers_of,
    plain_append,
    read_all,
    refuses,
    tell_turn,
)
from blockwire.testing.store_contract.refusals import RefusalContract
from blockwire.testing.store_contract.turns import TurnContract

__all__ = [
    "StoreContract",
    "decode_frames",
    "list_messages",
    "numbers_of",
    "plain_append",
    "read_all",
    "refuses",
    "tell_turn",
]


class StoreContract(
    ConversationContract,
    ForkContract,
    ImportContract,
    NumberContract,
    PageContract,
    RefusalContract,
    TurnContract,
    MessageContract,
    LifeContract,
    AccessContract,
):
    """All tests; each gets the fixture ``store``."""
