"""Folds text so that its Unicode form and its case no longer matter."""

import re
import unicodedata

_STRAIGHTEN = str.maketrans(
    # Before NFKC: the acute accent would fall apart into a blank and a combining mark.
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032\u00b4\u275b\u275c", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u275d\u275e\u301d\u301e", '"')
)
_SUSPECT = re.compile(r"[^ -~]")


def nfkc(text: str) -> str:
    """Unicode compatibility composition, with apostrophes and double quotes straightened first."""
    return unicodedata.normalize("NFKC", text.translate(_STRAIGHTEN))


def fold(text: str) -> str:
    """Lower-cases `text`, drops what no reader sees and makes every run of blanks one blank.

    Controls and lone surrogates count as blanks: a surrogate has no UTF-8 form, so that no store
    could keep it. Case folding can undo the composed form, which is therefore made again.
    """
    if text.isascii():
        if not text.isprintable():
            text = _SUSPECT.sub(" ", text)
        return " ".join(text.lower().split())
    # casefold writes the Turkish dotted capital as i and a combining dot; the dot is no part of the name.
    folded = nfkc(nfkc(text).casefold()).replace("i\u0307", "i")
    return " ".join(_SUSPECT.sub(_visible, folded).split())


def is_mark(character: str) -> bool:
    """Whether `character` is part of the letter before it, as the vowel signs of Indic scripts are."""
    return unicodedata.category(character)[0] == "M"


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if character in "\u200c\u200d":
        # Joiners spell words in Arabic, Persian and Indic scripts; between Latin letters they are noise.
        start, end, text = match.start(), match.end(), match.string
        joins = 0 < start and end < len(text) and not (text[start - 1].isascii() or text[end].isascii())
        return character if joins else ""
    category = unicodedata.category(character)
    if category in ("Cc", "Cs") or category[0] == "Z":
        return " "
    if category == "Cf" or "\ufe00" <= character <= "\ufe0f":
        return ""
    return character
