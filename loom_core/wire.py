"""The types of what crosses the wire: strict requests, plain answers, and the limits they keep.

Strict means that the text "5" is no integer and `true` no number (D43: wrong type, 422). A number over its
cap is no error: it is clamped and named in `advisories` (D43), which is why validation carries `Notes` along.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.config import JsonDict

from loom_core.errors import Invalid

MAX_KEY_CHARS = 1024
MAX_NAME_CHARS = 256
MAX_VALUE_BYTES = 8 * 1024 * 1024
"""Half of the HTTP body's limit: a value that is accepted alone is accepted with its entities beside it."""
MAX_VALUE_DEPTH = 100
"""Far under the interpreter's recursion limit, so that no later reader of a stored value can run into it."""
MAX_INT = 2**63 - 1
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2299, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""What a DateTime64 column with microseconds can hold."""
CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"


@dataclass
class Notes:
    """What validation has to tell beside its result: clamped numbers, unknown fields."""

    advisories: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def ignore(self, name: str) -> None:
        """Remember an unknown field, once, in a form that any encoding can carry."""
        printable = name.encode("utf-8", "backslashreplace").decode()[:100]
        if printable not in self.ignored and len(self.ignored) < 100:
            self.ignored.append(printable)


class Request(BaseModel):
    """Base of every request, and of the objects inside one."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, frozen=True)

    fields_are_named_under: ClassVar[str] = ""
    """Prefix of this model's fields in `ignored_args`, e.g. `relations[].`"""

    @model_validator(mode="before")
    @classmethod
    def name_unknown_fields(cls, data: Any, info: ValidationInfo) -> Any:
        """Unknown input fields are served and named in `ignored_args`."""
        if isinstance(data, Mapping) and isinstance(info.context, Notes):
            for name in data:
                if name not in cls.model_fields:
                    info.context.ignore(f"{cls.fields_are_named_under}{name}")
        return data


class Answer(BaseModel):
    """Base of every answer. Not strict: services hand over what the store returned."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def parse_instant(value: Any) -> Any:
    """An ISO 8601 text or a datetime as an aware UTC datetime (D1). Other types are left to strict typing.

    Raises `ValueError` where the text does not parse or the instant is outside 1900 to 2299.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.upper())
        except ValueError:
            raise ValueError("not an ISO 8601 date and time") from None
    if not isinstance(value, datetime):
        return value
    try:
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("outside the years 1900 to 2299") from None
    if not EARLIEST <= moment <= LATEST:
        raise ValueError("outside the years 1900 to 2299")
    return moment


def as_utc(moment: datetime) -> datetime:
    """A stored instant as an aware one: storage is UTC (D1)."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Instant = Annotated[
    datetime, BeforeValidator(parse_instant), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A point in time that a caller states."""

Stamp = Annotated[datetime, AfterValidator(as_utc)]
"""A point in time that an answer states; serialised in UTC with `Z`."""


def without_controls(text: str) -> str:
    """`text`, unless it is blank or holds a control character or a line separator: names go into logs."""
    if not text.strip():
        raise ValueError("is blank")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text):
        raise ValueError("holds a control character")
    return text


def storable(text: str) -> str:
    """`text`, unless it holds a NUL, which ends a text in some stores, or what UTF-8 cannot carry."""
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds a lone surrogate, which is not valid Unicode") from None
    return text


def _named(max_chars: int) -> Any:
    pattern: JsonDict = {"pattern": rf"^[^{CONTROL}]*[^{CONTROL}\s][^{CONTROL}]*$"}
    return Field(min_length=1, max_length=max_chars, json_schema_extra=pattern)


Name = Annotated[str, _named(MAX_NAME_CHARS), AfterValidator(without_controls)]
MemoryKey = Annotated[str, _named(MAX_KEY_CHARS), AfterValidator(without_controls)]
Text = Annotated[str, AfterValidator(storable), Field(json_schema_extra={"pattern": r"^[^\x00]*$"})]


def capped(maximum: float) -> AfterValidator:
    """Clamp a number to `maximum` and say so in `advisories` (D43)."""

    def clamp(value: Any, info: ValidationInfo) -> Any:
        if value is None or value <= maximum:
            return value
        if isinstance(info.context, Notes):
            shown = value if value <= MAX_INT else "the number given"
            info.context.advisories.append(f"{info.field_name}: {shown} is over the cap, {maximum} was used")
        return maximum

    return AfterValidator(clamp)


def integral(value: Any) -> Any:
    """`5.0` as 5: JSON has one type of number, and JSON Schema counts it as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


INTEGRAL = BeforeValidator(integral)
Confidence = Annotated[float, Field(ge=0), capped(1.0)]
Count = Annotated[int, Field(ge=1), INTEGRAL, capped(MAX_INT)]


def _depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        deepest += 1
        if deepest > MAX_VALUE_DEPTH:
            break
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return deepest


def check_value(value: Any) -> Any:
    """`value`, if it is JSON that can be stored: finite numbers, valid Unicode, bounded size and depth."""
    if _depth(value) > MAX_VALUE_DEPTH:
        raise ValueError(f"is nested deeper than {MAX_VALUE_DEPTH} levels")
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        raise ValueError("holds a lone surrogate, which is not valid Unicode") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"is not JSON: {error}") from None
    if size > MAX_VALUE_BYTES:
        raise ValueError(f"is {size} bytes as JSON; the limit is {MAX_VALUE_BYTES}")
    return value


Value = Annotated[Any, AfterValidator(check_value)]
"""Any JSON value, `null` included."""


def none_as(default: Callable[[], Any]) -> BeforeValidator:
    """Read `null` as if the field were absent."""
    return BeforeValidator(lambda value: default() if value is None else value)


class Scoped(Request):
    """The part of the identity tuple that decides whose data is read."""

    org: Name = Field(description="The tenant. Filled from the token, or, single-user, the install's.")
    namespace: Name = Field(description="The namespace read or written; filled likewise.")


class Identified(Scoped):
    """The whole identity tuple."""

    agent: Name | None = Field(None, description="The agent that calls.")
    user_id: Name | None = Field(None, description="The person the call is made for.")
    session_id: Name | None = Field(None, description="The conversation or run the call belongs to.")


def problems(error: ValidationError) -> str:
    """A validation error as one line that names each field and never repeats the input."""
    lines = []
    for item in error.errors(include_url=False, include_context=False, include_input=False)[:10]:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        lines.append(f"{path.lstrip('.')}: {message}" if path else message)
    return "; ".join(lines)


R = TypeVar("R", bound=BaseModel)


def parse_request(model: type[R], data: Any) -> tuple[R, Notes]:
    """`data` (decoded JSON) as a request, with what validation has to tell. Raises `Invalid`."""
    notes = Notes()
    try:
        return model.model_validate(data, context=notes), notes
    except ValidationError as error:
        raise Invalid("invalid_request", problems(error)) from None
