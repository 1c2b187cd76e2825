"""Sends entries to a running server in batches, each safe to send twice: equal content is a no-op."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from loom.client.agent import Agent
from loom.importing.entries import BadInput, Entry, Source

BATCH = 200


@dataclass(slots=True)
class Imported:
    """What an import did: rows written, rows that stood already, entries refused, and where it broke off."""

    written: int = 0
    unchanged: int = 0
    refused: list[str] = field(default_factory=list)
    broke_off: str | None = None


async def send(agent: Agent, source: Source, progress: Callable[[int], None]) -> Imported:
    """Imports a source. Where the input breaks off, what came before it is in, and `broke_off` says where."""
    done = Imported()
    batches = _batches(source.entries, done)
    for batch in batches:
        answer = await agent.memory.set_many(batch)
        for each in answer["written"]:
            if each["noop"]:
                done.unchanged += 1
            else:
                done.written += 1
        done.refused += [
            f"{batch[each['index']].get('memory_key')}: {each['message']}" for each in answer["refused"]
        ]
        progress(len(batch))
    return done


def _batches(entries: Iterator[Entry], done: Imported) -> Iterator[list[Entry]]:
    while True:
        batch: list[Entry] = []
        try:
            for entry in islice(entries, BATCH):
                batch.append(entry)
        except BadInput as error:
            done.broke_off = str(error)
        if batch:
            yield batch
        if len(batch) < BATCH or done.broke_off:
            return
