"""The grants of `deploy/clickhouse/users.xml` are statements that the engine reads."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from loom_core.storage.store import Store, StoreError

FILE = Path(__file__).parents[3] / "deploy" / "clickhouse" / "users.xml"
GRANTS = [query.text or "" for query in ElementTree.parse(FILE).getroot().iter("query")]


@pytest.mark.parametrize("grant", GRANTS)
def test_a_grant_parses(store: Store, grant: str) -> None:
    assert "loom" in grant or grant == "GRANT CLUSTER ON *.*"
    assert store.rows("SELECT formatQuerySingleLine({text:String})", text=f"{grant} TO somebody")


def test_a_grant_of_what_does_not_exist_is_noticed(store: Store) -> None:
    with pytest.raises(StoreError):
        store.rows("SELECT formatQuerySingleLine('GRANT ALTER EVERYTHING ON loom.* TO somebody')")
