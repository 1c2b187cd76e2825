from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from loom_core.coordination.shards import shard_of
from loom_core.tenancy import Scope


def test_a_namespace_stays_on_its_shard_across_releases() -> None:
    assert [shard_of(Scope("dev", name), 16) for name in ("local", "a", "北京")] == [6, 8, 7]


def test_org_and_namespace_do_not_run_together() -> None:
    assert shard_of(Scope("ab", "c"), 1 << 32) != shard_of(Scope("a", "bc"), 1 << 32)


def test_namespaces_spread_evenly() -> None:
    counts = Counter(shard_of(Scope("org", f"namespace {n}"), 16) for n in range(16_000))
    assert len(counts) == 16
    assert max(counts.values()) < 1.2 * min(counts.values())


@given(st.text(), st.text(), st.integers(1, 1024))
def test_every_name_has_a_shard(org: str, namespace: str, shards: int) -> None:
    assert 0 <= shard_of(Scope(org, namespace), shards) < shards
