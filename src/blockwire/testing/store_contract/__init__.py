"""What every store keeps; subclass :class:`StoreContract` to run it against another one.

Spec: docs/spec/gateway/persistence.md. Needs pytest with anyio's plugin and a fixture ``store`` that
gives an open, empty :class:`~blockwire.ports.Store`.
"""

from __future__ import annotations

from blockwire.testing.store_contract.access import AccessContract
from blockwire.testing.store_contract.attachments import (
    AttachmentContract,
    name_attachments,
    put_attachment,
)
from blockwire.testing.store_contract.conversations import ConversationContract
from blockwire.testing.store_contract.forks import ForkContract
from blockwire.testing.store_contract.imports import ImportContract
from blockwire.testing.store_contract.life import LifeContract
from blockwire.testing.store_contract.merging import (
    MergeContract,
    fold,
    merge_all,
    same,
    states_by_cursor,
)
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
from blockwire.testing.store_contract.retention import RetentionContract, trim_all
from blockwire.testing.store_contract.search import SearchContract
from blockwire.testing.store_contract.turns import TurnContract

__all__ = [
    "StoreContract",
    "decode_frames",
    "fold",
    "list_messages",
    "merge_all",
    "name_attachments",
    "numbers_of",
    "plain_append",
    "put_attachment",
    "read_all",
    "refuses",
    "same",
    "states_by_cursor",
    "tell_turn",
    "trim_all",
]


class StoreContract(
    AttachmentContract,
    ConversationContract,
    ForkContract,
    ImportContract,
    NumberContract,
    PageContract,
    RefusalContract,
    SearchContract,
    TurnContract,
    MessageContract,
    MergeContract,
    RetentionContract,
    LifeContract,
    AccessContract,
):
    """All tests; each gets the fixture ``store``."""
