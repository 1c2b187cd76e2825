"""Applies the migrations to the ClickHouse that `LOOM_CLICKHOUSE_URL` names."""

from __future__ import annotations

from loom_core.settings import load_settings
from loom_core.storage.migrate import migrate
from loom_core.storage.store import Store


def main() -> None:
    """Run, and name what was applied."""
    settings = load_settings()
    store = Store(settings)
    try:
        for name in migrate(store, settings):
            print(name)
    finally:
        store.close()


if __name__ == "__main__":
    main()
