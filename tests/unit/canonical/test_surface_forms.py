"""The forms in which a name may stand in a text."""

from __future__ import annotations

import pytest
from hypothesis import given

from loom_core.canonical import canonicalise, surface_forms
from tests.unit.canonical.test_entity_properties import NAMES


@pytest.mark.parametrize(
    ("canonical", "forms"),
    [
        ("billing service", {"billing services"}),
        ("head of state", {"heads of state"}),
        ("mother-in-law", {"mothers-in-law"}),
        ("sign-up", {"sign-ups"}),
        ("index", {"indexes", "indices"}),
        ("criterion", {"criteria"}),
        ("person", {"people"}),
        ("error: timeout", {"error: timeouts"}),
        ("fuzzer", {"fuzzers"}),
        ("user", {"users"}),
    ],
)
def test_a_name_may_stand_in_the_plural(canonical: str, forms: set[str]) -> None:
    assert surface_forms(canonical)[0] == canonical
    assert forms <= set(surface_forms(canonical))


@pytest.mark.parametrize(
    "canonical", ["kubernetes", "redis", "error:timeouts", "北京", "data", "3.14", "src/app", "james"]
)
def test_a_name_without_a_plural_stands_only_as_itself(canonical: str) -> None:
    assert surface_forms(canonical) == (canonical,)


@given(NAMES)
def test_each_form_has_the_name_as_its_canonical_form(text: str) -> None:
    canonical = canonicalise(text)
    if canonical is not None:
        assert [canonicalise(form) for form in surface_forms(canonical)] == [canonical] * len(
            surface_forms(canonical)
        )
