"""What a model answers on its bad days, and what becomes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_core.extraction.llm.answers import Answer, UnusableAnswer, parse_answer

GOOD = (
    '{"entities": [{"name": "Redis", "type": "system"}],'
    ' "relations": [{"subject": "worker", "relation": "uses", "object": "Redis"}]}'
)


def names(answer: Answer) -> list[str]:
    return [e.name for e in answer.entities]


def triples(answer: Answer) -> list[tuple[str, str, str]]:
    return [(r.subject, r.relation, r.object) for r in answer.relations]


@pytest.mark.parametrize(
    ("content", "entities", "relations", "skipped"),
    [
        pytest.param(GOOD, ["Redis"], [("worker", "use", "Redis")], 0, id="as asked"),
        pytest.param(f"```json\n{GOOD}\n```", ["Redis"], [("worker", "use", "Redis")], 0, id="fenced"),
        pytest.param(f"Here you are:\n{GOOD}\nAnything else?", ["Redis"], [("worker", "use", "Redis")], 0, id="chatty"),
        pytest.param(
            '<think>{"entities": hmm</think>\n```json\n' + GOOD + "\n```", ["Redis"], [("worker", "use", "Redis")], 0,
            id="reasoning before a fence",
        ),
        pytest.param(
            'so the answer is</think>{"entities": ["Redis"], "relations": []}', ["Redis"], [], 0,
            id="reasoning whose opening tag the template ate",
        ),
        pytest.param('{"entities": [], "relations": []}', [], [], 0, id="valid and empty"),
        pytest.param("[]", [], [], 0, id="a bare empty list"),
        pytest.param('{"entities": null, "relations": null}', [], [], 0, id="null for empty"),
        pytest.param(
            '[{"name": "Redis"}, {"subject": "a", "relation": "uses", "object": "b"}]', ["Redis"], [("a", "use", "b")], 0,
            id="a bare list instead of an object",
        ),
        pytest.param('[{"entities": ["Redis"]}, {"relations": []}]', ["Redis"], [], 0, id="the object in a list"),
        pytest.param(
            '{"nodes": [{"entity_name": "Redis", "entity_type": "System"}],'
            ' "triples": [{"head": "a", "predicate": "uses", "tail": "b"}]}',
            ["Redis"], [("a", "use", "b")], 0, id="other key names",
        ),
        pytest.param(
            '{"entities": [], "relations": [{"subject": "a", "relation": "uses"},'
            ' {"subject": "a", "relation": "uses", "object": "b"}]}',
            [], [("a", "use", "b")], 1, id="an item without an object",
        ),
        pytest.param('{"entities": {"person": ["Anna"], "place": ["Oslo"]}}', ["Anna", "Oslo"], [], 0, id="grouped by type"),
        pytest.param('{"result": ' + GOOD + "}", ["Redis"], [("worker", "use", "Redis")], 0, id="wrapped"),
        pytest.param(
            '{"type": "object", "properties": {"entities": ["Redis"], "relations": []}}', ["Redis"], [], 0,
            id="the schema filled in",
        ),
        pytest.param("{'entities': ['Redis',], // found\n 'relations': []}", ["Redis"], [], 0, id="not quite JSON"),
        pytest.param('{"relations": [["a", "uses", "b"]]}', [], [("a", "use", "b")], 0, id="triples as lists"),
        pytest.param('{"subject": "a", "relation": "uses", "object": "b"}', [], [("a", "use", "b")], 0, id="one lone item"),
        pytest.param(
            '{"entities": ["Redis", "Post', ["Redis"], [], 1, id="cut off: the last item may be half of itself"
        ),
        pytest.param(
            '{"entities": ["Redis"], "relations": [{"subject": "a", "relation": "uses", "object": "b"}, {"subject": "c"',
            ["Redis"], [("a", "use", "b")], 1, id="cut off in a relation",
        ),
        pytest.param(
            '{"entities": ["' + "x" * 10_000 + '", "Redis"]}', ["Redis"], [], 1, id="10,000 characters in a name"
        ),
        pytest.param(r'{"entities": ["\frac{a}{b}", "\alpha"]}', [r"\frac{a}{b}", r"\alpha"], [], 0, id="LaTeX escapes"),
        pytest.param(r'{"entities": ["\\frac{a}{b}", "C:\\temp"]}', [r"\frac{a}{b}", r"C:\temp"], [], 0, id="escaped rightly"),
        pytest.param(
            '{"entities": [{"name": 7}, {"name": null}, {"name": ["a"]}, 5, null, "Redis"]}', ["7", "Redis"], [], 4,
            id="names that are no words",
        ),
    ],
)  # fmt: skip
def test_an_answer_is_used_as_far_as_it_can_be(content, entities, relations, skipped):
    answer = parse_answer(content)
    assert (names(answer), triples(answer), answer.skipped) == (entities, relations, skipped)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "empty"),
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>and so on and on", "empty"),
        ("I could not find anything.", "no_json"),
        ("null", "no_json"),
        ("{}", "no_extraction"),
        ('{"answer": "I cannot help with that"}', "no_extraction"),
        (
            '{"type": "object", "properties": {"entities": {"type": "array", "items": {"type": "object"}}}}',
            "no_extraction",
        ),
        ("[" * 50_000, "too_deep"),
        ("[1, 2, 3]", "no_extraction"),
    ],
)
def test_an_answer_with_nothing_to_read_is_a_failure(content, reason):
    with pytest.raises(UnusableAnswer) as caught:
        parse_answer(content)
    assert caught.value.reason == reason


def test_an_answer_that_ended_for_length_loses_its_last_item():
    answer = parse_answer('{"entities": ["Redis", "Postgres"], "relations": []}', "length")
    assert (names(answer), answer.skipped) == (["Redis"], 1)


@pytest.mark.parametrize(
    ("hostile", "stored"),
    [
        ("non-compliant", "non_compliant"),
        ("a,b", "a_b"),
        ("x'); DROP TABLE loom.entity_edges --", None),
        ("由...组成", None),
        ("", None),
        ("---", None),
        ("r" * 300, None),
    ],
)
def test_a_hostile_relation_is_a_plain_label_or_left_out(hostile, stored):
    answer = parse_answer('{"relations": [["a", ' + repr_json(hostile) + ', "b"]]}')
    for relation in answer.relations:
        assert all(c.isalnum() or c == "_" for c in relation.relation), relation
    if stored is not None:
        assert [r.relation for r in answer.relations] == [stored]
    assert len(answer.relations) + answer.skipped == 1


def repr_json(text: str) -> str:
    import json

    return json.dumps(text)


def test_twenty_relations_are_all_read():
    listed = ", ".join(f'["a{i}", "uses", "b{i}"]' for i in range(20))
    assert len(parse_answer('{"relations": [' + listed + "]}").relations) == 20


def test_a_fact_needs_a_finite_number():
    answer = parse_answer(
        '{"facts": [{"entity": "pool", "attribute": "size", "value": "1,200"},'
        ' {"entity": "pool", "attribute": "size", "value": "many"},'
        ' {"entity": "pool", "attribute": "size", "value": NaN}, {"attribute": "size", "value": 3}]}'
    )
    assert [(f.entity, f.attribute, f.value) for f in answer.facts] == [("pool", "size", 1200.0)]
    assert answer.skipped == 3


def test_the_tense_is_read_off_the_verb_as_written():
    (relation,) = parse_answer('{"relations": [["Anna", "worked_at", "Acme"]]}').relations
    assert (relation.relation, relation.past) == ("work_at", True)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["entities", "relations", "facts", "name", "subject", "relation", "object", "value", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.integers(0, 200), st.sampled_from(["stop", "length", None]))
def test_whatever_comes_is_an_answer_or_an_unusable_one(value, cut, finish_reason):
    import json

    try:
        answer = parse_answer(json.dumps(value)[: cut or None], finish_reason)
    except UnusableAnswer:
        return
    assert all(e.name.strip() and len(e.name) <= 256 for e in answer.entities)
    assert all(r.subject and r.relation and r.object for r in answer.relations)
