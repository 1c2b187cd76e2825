"""A row that stands alone, derived by the short way and by the rule for all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom_core.graph.lifecycle import Version, lifecycles
from loom_core.graph.slots import Statement, derive, derive_alone

instants = st.integers(0, 6)
ends = st.none() | instants
stated = st.builds(
    Statement, st.just("row"), st.integers(0, 3), st.just("ledger"), own_start=ends, own_end=ends
)


@given(st.lists(stated, min_size=1, max_size=4), st.builds(Version, st.just("row"), instants, ends, ends))
def test_the_short_way_gives_what_the_rule_gives(statements: list[Statement], version: Version) -> None:
    rows = lifecycles([version], [])
    assert derive_alone(statements, rows["row"]) == derive(statements, rows, "many")["row", "ledger"]
