"""Which output item of an OpenAI response is which: told twice, another, or lost on the way.

Spec: docs/spec/providers.md, "OpenAI Responses". Above is ``openai_responses``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blockwire.jsontext import Json
from blockwire.providers.members import text_of
from blockwire.providers.responses_items import ResponseItem

__all__ = ["find_places", "is_another", "is_same"]


def is_same(known: ResponseItem, item: Mapping[str, Json]) -> bool:
    """Return whether an item that begins at the index of ``known`` is the same one, told twice."""
    if known.item_type != text_of(item, "type"):
        return False
    return known.call_id == text_of(item, "call_id") and not (known.is_done and not known.call_id)


def is_another(known: ResponseItem, item: Mapping[str, Json], *, has_index: bool) -> bool:
    """Return whether an item that ends where ``known`` has ended is not the same, told twice.

    Args:
        known: An item of the same type.
        item: The item as it ended.
        has_index: Its event said where it is.
    """
    if not known.is_done:
        return False
    call_id = text_of(item, "call_id")
    if call_id and call_id != known.call_id:
        return True
    # Ids may change from event to event, but without an index there is nothing else.
    return not has_index and text_of(item, "id") != known.item_id


def find_places(
    by_index: Mapping[int, ResponseItem],
    items: Sequence[ResponseItem],
    final: Mapping[int, dict[str, Json]],
) -> dict[int, ResponseItem] | None:
    """Return the items that were seen by their places in the final list.

    None where that cannot be told: the indexes of events may be missing or wrong; then the items
    of a type are taken in their order, if the list has as many of it.

    Args:
        by_index: The last item of each index.
        items: All that were seen.
        final: The items of the final list by their places.
    """
    # Of an item without a type only arguments came, in vain.
    seen = {index: item for index, item in sorted(by_index.items()) if item.item_type}
    types = {place: text_of(item, "type") for place, item in final.items()}
    is_clear = len(seen) == sum(1 for item in items if item.item_type)
    if is_clear and all(types.get(index) == item.item_type for index, item in seen.items()):
        return seen
    places: dict[int, ResponseItem] = {}
    for item_type in {item.item_type for item in seen.values()}:
        ours = [item for item in seen.values() if item.item_type == item_type]
        theirs = [place for place, its_type in types.items() if its_type == item_type]
        if len(ours) != len(theirs):
            return None
        places.update(zip(theirs, ours, strict=True))
    return places
