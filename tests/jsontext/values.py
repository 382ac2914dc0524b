"""Strategies for JSON values, shared by the tests of this room."""

from hypothesis import strategies as st

from blockwire.jsontext import Json


def texts() -> st.SearchStrategy[str]:
    """Return texts of scalar values, with much that escapes and breaks."""
    awkward = st.sampled_from('"\\/\x00\x1f\x7f\n\r\u2028\ufeff\U0001f600é')
    return st.text(st.characters(exclude_categories=["Cs"]) | awkward, max_size=12)


def json_values() -> st.SearchStrategy[Json]:
    """Return trees of all kinds of values."""
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        st.none() | st.booleans() | numbers | texts(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts(), inner, max_size=4),
        max_leaves=12,
    )
