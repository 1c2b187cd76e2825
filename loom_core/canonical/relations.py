from loom_core.canonical.folding import fold
import re


def normalise_relation(text: str) -> tuple[str, bool]:
    return re.sub(r"\W+", "_", fold(text)).strip("_"), False
