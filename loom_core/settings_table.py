"""The README's table of settings, generated from the settings class: `python -m loom_core.settings_table`."""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from loom_core.settings import Settings


def table() -> str:
    """A Markdown table: variable, default, meaning; one row a setting, in the order of the class."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        lines.append(f"| `LOOM_{name.upper()}` | {_default(field)} | {_meaning(field)} |")
    return "\n".join(lines)


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None or value == "":
        return "—"
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _meaning(field: FieldInfo) -> str:
    text = (field.description or "").replace("|", "\\|")
    choices = [choice for part in _parts(field.annotation) for choice in _literals(part)]
    if choices and not any(choice in text for choice in choices):
        text += f" ({', '.join(choices)})"
    secret = any(part is SecretStr for part in _parts(field.annotation))
    return text + (" (secret)" if secret else "")


def _parts(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _literals(annotation: Any) -> tuple[str, ...]:
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()


if __name__ == "__main__":
    print(table())
