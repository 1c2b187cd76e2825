"""Cardinalities, warnings and facets of a namespace's ontology (D14, D24)."""

from __future__ import annotations

import pytest

from loom_core.graph.ontology import Ontology


@pytest.mark.parametrize(
    ("relation", "cardinality"),
    [
        *((name, "one") for name in ("work_at", "employ_by", "live_in", "reside_in", "base_in")),
        *((name, "one") for name in ("locate_in", "marry_to", "employer", "location")),
        ("test_with", "many"),
        ("administer", "many"),
        ("is_a", "many"),
    ],
)
def test_a_relation_holds_one_value_by_default_only_if_it_is_one_of_the_nine(
    relation: str, cardinality: str
) -> None:
    assert Ontology().cardinality(relation) == cardinality


def test_a_registration_overrides_the_default_in_both_directions() -> None:
    ontology = Ontology.merged(
        [{"relations": [{"name": "live_in", "cardinality": "many"}, {"name": "own", "cardinality": "one"}]}]
    )
    assert ontology.cardinality("live_in") == "many"
    assert ontology.cardinality("own") == "one"
    assert ontology.cardinality("work_at") == "one"


def test_registrations_merge_by_name_and_the_last_to_name_one_decides() -> None:
    ontology = Ontology.merged(
        [
            {"entity_types": ["Service"], "relations": [{"name": "own", "cardinality": "one"}]},
            {"entity_types": ["person", "SERVICE"], "attributes": [{"name": "seat", "cardinality": "one"}]},
            {"relations": [{"name": "own", "cardinality": "many"}, {"name": "run", "cardinality": "one"}]},
        ]
    )
    assert ontology.entity_types == ("service", "person")
    assert dict(ontology.relations) == {"own": "many", "run": "one"}
    assert ontology.cardinality("seat") == "one"
    assert ontology.cardinality("own") == "many"


def test_an_attribute_registered_as_many_overrides_the_default() -> None:
    ontology = Ontology.merged([{"attributes": [{"name": "employer", "cardinality": "many"}]}])
    assert ontology.cardinality("employer") == "many"


def test_names_outside_the_set_are_warned_of_once_each() -> None:
    ontology = Ontology.merged(
        [
            {
                "entity_types": ["service"],
                "relations": [{"name": "own", "cardinality": "many"}],
                "attributes": [{"name": "seat", "cardinality": "many"}],
            }
        ]
    )
    warnings = ontology.warnings(
        entity_types=["Service", "Person"],
        relations=["own", "frob", "frob", "seat"],
        attributes=["seat", "size"],
    )
    assert warnings == [
        "entity type 'person' is not in the ontology",
        "relation 'frob' is not in the ontology",
        "attribute 'size' is not in the ontology",
    ]


def test_a_kind_of_name_that_was_never_registered_is_not_judged() -> None:
    assert Ontology().warnings(entity_types=["x"], relations=["y"], attributes=["z"]) == []
    only_types = Ontology.merged([{"entity_types": ["service"]}])
    assert only_types.warnings(relations=["frob"]) == []
    only_attributes = Ontology.merged([{"attributes": [{"name": "seat", "cardinality": "many"}]}])
    assert only_attributes.warnings(relations=["frob"]) == []


def test_only_a_type_the_ontology_names_makes_a_facet() -> None:
    ontology = Ontology.merged([{"entity_types": ["Cloud Service"]}])
    assert ontology.facet("cloud  SERVICE") == "cloud service"
    assert ontology.facet("person") is None
    assert Ontology().facet("") is None
