"""When a namespace is searched again, by how long ago something landed and a search found nothing."""

from __future__ import annotations

import pytest

from loom_core.clock import SECOND
from loom_core.coordination.due import Landed
from loom_core.coordination.marks import lag

NOW = 10**15


@pytest.mark.parametrize(
    ("landed_s_ago", "searched_s_ago", "old_s", "rests"),
    [
        pytest.param(30, 10, 0, True, id="the search saw it"),
        pytest.param(12, 10, 0, False, id="its INSERT may not have been seen"),
        pytest.param(90, 31, 0, False, id="a slower INSERT is looked for now and then"),
        pytest.param(200, 10, 120, True, id="it was old enough when it was searched for"),
        pytest.param(100, 10, 120, True, id="it is too young, and was looked for lately"),
        pytest.param(100, 31, 120, False, id="others may be old enough by now"),
        pytest.param(0, 10, 0, False, id="it landed after the search"),
    ],
)
def test_a_namespace_rests_where_a_search_just_found_nothing(
    landed_s_ago: int, searched_s_ago: int, old_s: float, rests: bool
) -> None:
    mark = NOW - searched_s_ago * SECOND - lag(old_s)
    assert Landed(NOW - landed_s_ago * SECOND, mark, NOW).rests(old_s) is rests


def test_a_namespace_that_was_never_searched_does_not_rest() -> None:
    assert not Landed(NOW, 0, NOW).rests(120)
