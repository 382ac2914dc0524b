"""Which store a URL names."""

from pathlib import Path

import pytest

from blockwire.errors import StoreError
from blockwire.stores import MemoryStore, SqliteStore, open_store


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///chat.sqlite3", "chat.sqlite3"),
        ("sqlite:///folder/chat.db", "folder/chat.db"),
        ("sqlite:////var/lib/chat.db", "/var/lib/chat.db"),
        ("sqlite:///C:/data/chat.db", "C:/data/chat.db"),
        ("sqlite:///with%20blank%3F.db", "with blank?.db"),
        ("sqlite:///50%.db", "50%.db"),
    ],
)
def test_a_sqlite_url_names_a_file(url: str, path: str) -> None:
    store = open_store(url)

    assert isinstance(store, SqliteStore)
    assert store.path == Path(path)


def test_memory_names_a_store_that_forgets() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "chat.sqlite3",
        "/var/lib/chat.db",
        "sqlite:chat.db",
        "sqlite://chat.db",
        "sqlite:///",
        "sqlite:///a?mode=ro",
        "sqlite:///a%00b",
        "postgresql://localhost/x",
        "memory://x",
    ],
)
def test_any_other_url_is_refused_and_says_what_to_write(url: str) -> None:
    with pytest.raises(StoreError) as refused:
        open_store(url)

    assert refused.value.code == "invalid_store_url"
    assert "sqlite:////absolute/path" in refused.value.detail
