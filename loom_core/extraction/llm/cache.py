"""Answers a model gave before, by the content they were given for. Losing them costs money, never a row."""

from __future__ import annotations

import hashlib
import json
from typing import Protocol

TTL_S = 7 * 86_400


class AnswerCache(Protocol):
    """Where answers are kept: bytes by key, for a time."""

    def get(self, key: str) -> bytes | None: ...

    def set(self, key: str, value: bytes, ttl_s: int) -> None: ...


def answer_key(text: str) -> str:
    """The one key under which everything a model said of a text is cached; an erasure deletes it (D36)."""
    return f"loom:llm-answer:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


class CachedAnswers:
    """A text's answers, told apart by model, prompt version and whatever else shaped the request."""

    def __init__(self, cache: AnswerCache) -> None:
        self._cache = cache

    def find(self, text: str, request: str) -> list[str] | None:
        """The answers to `request` (a text that was split has several), or None."""
        found = self._read(text).get(_short(request))
        return found if isinstance(found, list) and all(isinstance(a, str) for a in found) else None

    def keep(self, text: str, request: str, answers: list[str]) -> None:
        stored = {**self._read(text), _short(request): answers}
        self._cache.set(answer_key(text), json.dumps(stored).encode(), TTL_S)

    def _read(self, text: str) -> dict[str, object]:
        raw = self._cache.get(answer_key(text))
        try:
            stored = json.loads(raw) if raw else {}
        except ValueError:
            return {}
        return stored if isinstance(stored, dict) else {}


def _short(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()[:24]
