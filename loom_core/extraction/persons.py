"""Who a pronoun is: in the user's turns "I" is the user, in the assistant's "you" is."""

from __future__ import annotations

from typing import Literal

Role = Literal["user", "assistant"] | None

USER = "user"
_FIRST = frozenset({"i", "me", "my", "mine", "myself"})
_SECOND = frozenset({"you", "your", "yours", "yourself"})


def user_words(role: Role) -> frozenset[str]:
    """The words that mean the user. A text of no role is read as the user's own (D16 maps its "I" too)."""
    return _SECOND if role == "assistant" else _FIRST


def is_user(word: str, role: Role) -> bool:
    """Whether a pronoun stands for the user in a turn of that role."""
    return word.casefold() in user_words(role)
