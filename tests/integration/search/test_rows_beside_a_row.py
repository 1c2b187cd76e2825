from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from loom_core.namespace.models import NamespaceTaxonomyRequest, NamespaceTaxonomyResponse
from loom_core.storage.store import Store
from tests.support.loom import Loom


def keys(answer: Any) -> list[str]:
    return [row.memory_key for row in answer.rows]


def day(month: int) -> datetime:
    return datetime(2025, month, 1, tzinfo=UTC)


def test_related_weighs_shared_entities_against_their_degree(loom: Loom) -> None:
    loom.set("asked", "x", "user", "kestrel project")
    loom.set("rare", "x", "kestrel project", "other thing")
    for number in range(6):
        loom.set(f"common-{number}", "x", "user", f"topic {number}")
    answer = loom.related("asked")
    assert answer.found
    assert keys(answer) == ["rare", *(f"common-{number}" for number in range(6))]
    assert answer.rows[0].shared == ["kestrel project"]
    assert answer.rows[0].score > answer.rows[1].score
    assert keys(loom.related("asked", limit=1)) == ["rare"]


def test_two_shared_entities_score_more_than_one(loom: Loom) -> None:
    loom.set("asked", "x", "alpha service", "beta service")
    loom.set("one", "x", "alpha service")
    loom.set("two", "x", "beta service", "alpha service")
    answer = loom.related("asked")
    assert keys(answer) == ["two", "one"]
    assert answer.rows[0].shared == ["alpha service", "beta service"]


def test_rows_that_do_not_stand_are_not_beside_anything(loom: Loom) -> None:
    loom.set("asked", "x", "alpha service")
    loom.set("moved on", "x", "alpha service")
    loom.set("moved on", "x", "gamma service")
    loom.set("gone", "x", "alpha service")
    loom.delete("gone")
    assert keys(loom.related("asked")) == []
    assert keys(loom.backlinks("asked")) == []
    assert keys(loom.timeline("alpha service")) == ["asked"]


def test_an_absent_row_is_not_found(loom: Loom) -> None:
    loom.set("gone", "x", "alpha service")
    loom.delete("gone")
    for key in ("never", "gone"):
        assert (loom.related(key).found, loom.related(key).rows) == (False, [])
        assert (loom.backlinks(key).found, loom.backlinks(key).rows) == (False, [])


def test_a_row_without_entities_has_no_related_rows(loom: Loom) -> None:
    loom.set("asked", "x")
    answer = loom.related("asked")
    assert (answer.found, answer.rows) == (True, [])


def test_backlinks_share_entities_or_link_to_the_row_newest_first(loom: Loom) -> None:
    loom.set("asked", "x", "alpha service")
    loom.set("shares", "x", "alpha service", "beta service")
    loom.set("links", "x")
    loom.set("is linked", "x")
    loom.link("links", "asked")
    loom.link("asked", "is linked")
    answer = loom.backlinks("asked")
    assert keys(answer) == ["links", "shares"]
    assert [row.shared for row in answer.rows] == [[], ["alpha service"]]
    assert answer.rows[0].at > answer.rows[1].at


def test_a_timeline_runs_by_valid_at_else_arrival_oldest_first(loom: Loom) -> None:
    loom.set("arrived", "x", "alpha service")
    loom.set("may", "x", "alpha service", "beta service", valid_at=day(5))
    loom.set("march", "x", "The Alpha Services", valid_at=day(3))
    answer = loom.timeline("alpha services")
    assert (answer.entity, keys(answer)) == ("alpha service", ["march", "may", "arrived"])
    assert [row.at for row in answer.rows[:2]] == [day(3), day(5)]
    assert keys(loom.timeline("alpha service", limit=2)) == ["march", "may"]


def test_a_timeline_of_no_name_is_empty(loom: Loom) -> None:
    assert (loom.timeline("they").entity, loom.timeline("they").rows) == ("", [])


def taxonomy(loom: Loom, **fields: Any) -> NamespaceTaxonomyResponse:
    return loom.searching.taxonomy(loom.context, NamespaceTaxonomyRequest(**loom.names(), **fields))


def test_b12_a_taxonomy_lists_entities_by_degree_also_those_without_an_edge(loom: Loom) -> None:
    loom.set("k1", "x", "billing service", "Billing Services")
    loom.set("k2", "x", "alpha service", "beta service", "gamma service")
    loom.set("k3", "x", "gamma service", "delta service")
    loom.set("gone", "x", "forgotten")
    loom.delete("gone")
    assert [(row.entity, row.degree) for row in taxonomy(loom).entities] == [
        ("gamma service", 3),
        ("alpha service", 2),
        ("beta service", 2),
        ("delta service", 1),
        ("billing service", 0),
    ]
    assert len(taxonomy(loom, limit=2).entities) == 2
    assert taxonomy(loom).communities == []


def test_communities_are_named_after_their_strongest_members(loom: Loom, store: Store) -> None:
    loom.set("k1", "x", "alpha service", "beta service")
    scope = list(loom.names().values())
    columns = ("org", "namespace", "pass_id", "level", "entity", "community_id", "stable_key", "weight")
    members = [
        ("alpha service", 0, 3),
        ("beta service", 0, 9),
        ("gamma", 0, 3),
        ("delta", 0, 1),
        ("omega", 1, 50),
    ]
    store.insert(
        "entity_communities",
        columns,
        [[*scope, "p1", 0, name, id_, 1, weight] for name, id_, weight in members],
    )
    store.insert("community_passes", ("org", "namespace", "pass_id", "ver"), [[*scope, "p1", 1]])
    answer = taxonomy(loom)
    assert [(row.entity, row.community_id) for row in answer.entities] == [
        ("alpha service", 0),
        ("beta service", 0),
    ]
    first, second = answer.communities
    assert (first.community_id, first.size, first.name) == (0, 4, "beta service, alpha service, gamma")
    assert first.members == ["beta service", "alpha service", "gamma", "delta"]
    assert (second.community_id, second.size, second.name) == (1, 1, "omega")
