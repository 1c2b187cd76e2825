"""The registry against the reference, and the reference against the user's page where that can be read."""

from __future__ import annotations

import ast
import os
import re
import types
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from loom_core.facts import models
from loom_core.server.registry import BY_NAME
from tests.contract.reference import COMPUTED, FACTS, NESTED, OPS, Reference

ROOT = Path(__file__).resolve().parents[2]
SPEC = Path(os.environ.get("LOOM_SPEC_DIR", ROOT.parent / "shared" / "spec"))
CELL = re.compile(r"(?<!\\)\|")


def written(annotation: Any) -> str:
    """A type as the page writes it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin in (Union, types.UnionType):
        return " | ".join(map(written, arguments))
    if origin is list:
        return f"list[{written(arguments[0])}]"
    if annotation is types.NoneType:
        return "None"
    if annotation is datetime:
        return "datetime"
    return str(annotation.__name__)


def public(text: str) -> str:
    """The page marks nested models as private; their names are the same otherwise."""
    return text.replace("[_", "[")


def default(model: type[BaseModel], name: str) -> Any:
    field = model.model_fields[name]
    if field.default_factory is not None:
        return COMPUTED
    return ... if field.default is PydanticUndefined else field.default


@pytest.mark.parametrize("name", FACTS)
def test_a_facts_op_takes_and_returns_exactly_the_fields_of_the_page(name: str) -> None:
    op, reference = BY_NAME[name], FACTS[name]
    inputs, outputs = get_type_hints(op.request), get_type_hints(op.response)
    assert [
        (field, written(inputs[field]), default(op.request, field)) for field in op.request.model_fields
    ] == list(reference.inputs)
    assert [(field, written(outputs[field])) for field in op.response.model_fields] == [
        (field, public(kind)) for field, kind in reference.outputs
    ]
    assert (op.role, op.kind, op.audited, op.mcp_listed) == (
        reference.role,
        reference.kind,
        reference.audited,
        reference.listed,
    )


@pytest.mark.parametrize("name", NESTED)
def test_a_nested_object_has_exactly_its_fields(name: str) -> None:
    assert tuple(getattr(models, name).model_fields) == NESTED[name]


def test_every_op_is_there_with_its_role() -> None:
    assert {op.name: op.role for op in BY_NAME.values()} == OPS


def test_only_what_the_page_marks_is_left_out_of_the_mcp_listing() -> None:
    assert {op.name for op in BY_NAME.values() if not op.mcp_listed} == {
        name for name, reference in FACTS.items() if not reference.listed
    }


def parse_page(text: str) -> dict[str, Reference]:
    """The page's tables, one `Reference` an op."""
    ops = {}
    for section in re.split(r"\n(?=facts\.\w+\n)", text)[1:]:
        name = section.partition("\n")[0]
        line = re.search(r"· role (\w+) · (.+)", section)
        assert line, f"{name}: no line with its role"
        marks = [mark.strip() for mark in line[2].split("·")]
        taken, _, returned = section.partition("| Output field | Type | Meaning |\n|---|---|---|")
        inputs = rows(taken.partition("|---|---|---|---|")[2], width=4)
        outputs = rows(returned, width=3)
        ops[name] = Reference(
            role=line[1],
            kind=marks[0],
            audited="audited" in marks,
            listed="not listed under the MCP all toolset" not in marks,
            inputs=tuple((field, kind, value(cell)) for field, kind, cell, _ in inputs),
            outputs=tuple((field, kind) for field, kind, _ in outputs),
        )
    return ops


def rows(table: str, *, width: int) -> list[list[str]]:
    """A table's rows. The page breaks lines inside a row, so cells are counted, not lines."""
    cells = [cell.strip().replace("\\|", "|") for cell in CELL.split(table)][:-1]
    assert len(cells) % width == 0, f"cells do not come in rows of {width}: {cells}"
    return [cells[start : start + width] for start in range(0, len(cells), width)]


def value(cell: str) -> Any:
    if cell == "required":
        return ...
    return COMPUTED if cell == COMPUTED else ast.literal_eval(cell)


@pytest.mark.skipif(
    not SPEC.is_dir() and "LOOM_SPEC_DIR" not in os.environ, reason="the user's pages are not here"
)
def test_the_reference_is_what_the_page_says() -> None:
    pages = [page for page in SPEC.glob("*.txt") if page.read_text().startswith("facts operations")]
    assert len(pages) == 1, f"one reference page in {SPEC}"
    assert parse_page(pages[0].read_text()) == FACTS
