"""Who a pronoun stands for: the user, something named earlier in the block, or nobody we know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom_core.extraction.persons import Role, is_user

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_PEOPLE = frozenset({"he", "she", "him", "her", "his", "hers"})
_THING = frozenset({"it", "its"})
_SEVERAL = frozenset({"they", "them", "their"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})


class Antecedents:
    """Looks back from a pronoun for the one fitting subject, at most one sentence before its own.

    Two that fit make it a guess, and a guess states nothing.
    """

    def __init__(self, doc: Doc, role: Role) -> None:
        self._role = role
        self._nouns = [t for t in doc if t.dep_ in _SUBJECTS and t.pos_ in {"NOUN", "PROPN"}]

    def is_user(self, token: Token) -> bool:
        return token.pos_ == "PRON" and is_user(token.text, self._role)

    def of(self, token: Token) -> Token | None:
        """The noun a token stands for: itself if it is one, None for a pronoun without a fitting noun."""
        if token.pos_ != "PRON":
            return token
        fitting = [n for n in self._nouns if n.i < token.i and _near(n, token) and _fits(n, token.lower_)]
        return fitting[0] if len(fitting) == 1 else None


def _near(noun: Token, pronoun: Token) -> bool:
    return pronoun.sent.start in (noun.sent.start, noun.sent.end)


def _fits(noun: Token, pronoun: str) -> bool:
    plural: bool = noun.tag_ in {"NNS", "NNPS"} or any(c.dep_ == "conj" for c in noun.rights)
    kind: str = noun.ent_type_
    proper: bool = noun.pos_ == "PROPN"
    if pronoun in _PEOPLE:
        return proper and not plural and kind in {"PERSON", ""}
    if pronoun in _THING:
        return not plural and kind != "PERSON"
    return pronoun in _SEVERAL and (plural or kind in {"ORG", "NORP"})
