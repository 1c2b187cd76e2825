"""What dies, what that costs, what brings it back: the README's table is made of this and of the times measured.

Each fault has a test in this folder that injects it, waits until nothing waits, and compares graph and rows
(`recovered`). `make faults` runs them and writes the times into `measured.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.json")
"""Per fault: how often it was injected, and the median and the longest seconds until nothing waited."""


@dataclass(frozen=True)
class Fault:
    """One row of the table. The time is counted from the moment that `since` names."""

    name: str
    dies: str
    happens: str
    back: str
    since: str


FAULTS = {
    fault.name: fault
    for fault in (
        Fault(
            "worker_killed",
            "a worker, by kill -9 in the middle of a batch",
            "its tries were written down before they were made; nothing half-done counts twice",
            "it is started again; the rows of the lost batch are then tried one by one, so that a poison row takes "
            "no other with it. What was extracted but not yet projected is found after "
            "`LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S`",
            "the new worker's start",
        ),
        Fault(
            "worker_stopped",
            "a worker that does not end in its time after SIGTERM, by kill -9",
            "it takes no new batch after SIGTERM; the one in hand is lost like that of any killed worker",
            "it is started again",
            "the new worker's start",
        ),
        Fault(
            "poison_rows",
            "a pool process, by each row that kills it, holds it past its time, raises, or is answered rubbish",
            "the row ends `dead` after its tries, with its reason; its neighbours are done",
            "`loom failures requeue`, once what was wrong with it is mended",
            "the rows' landing",
        ),
        Fault(
            "holder_paused",
            "the holder of a lease, paused past its end and then awake",
            "an heir has done its work; what it still writes changes nothing",
            "nothing to do",
            "its waking",
        ),
        Fault(
            "all_stopped",
            "all workers and beat",
            "writes go on; the graph of rows with declared entities too; extraction and retries wait",
            "start them; the first beat sweeps at once",
            "their start",
        ),
        Fault(
            "beat_restarts",
            "beat, every 5 s",
            "each new beat sweeps at once: what is due stands in ClickHouse, beat keeps nothing",
            "nothing to do",
            "the rows' landing",
        ),
        Fault(
            "messages_repeated",
            "nothing: two beats, and each message five times",
            "one tick finds the lease free, the others that it is taken, or nothing left to do",
            "nothing to do",
            "the rows' landing",
        ),
        Fault(
            "messages_lost",
            "a worker between taking a message and noting that it has it: the wake-up is lost",
            "the rows wait for the next beat",
            "nothing to do",
            "the loss",
        ),
        Fault(
            "redis_killed",
            "Redis",
            "writes go on, wake-ups are sent later; ticks stop",
            "start it; the beats find in ClickHouse what is due",
            "its answering again",
        ),
        Fault(
            "redis_emptied",
            "all of Redis's data",
            "leases, marks and messages are gone; no row is",
            "nothing to do: the next beat",
            "the loss",
        ),
        Fault(
            "redis_frozen",
            "Redis, frozen for 40 s",
            "as when it is away",
            "nothing to do",
            "its waking",
        ),
        Fault(
            "redis_bounced",
            "Redis, three times in a row",
            "as when it is away",
            "nothing to do",
            "its last answering again",
        ),
        Fault(
            "redis_full",
            "Redis's memory: it refuses every write",
            "no lease can be taken: ticks stop",
            "give it room; `loom doctor` names an eviction policy that would lose leases",
            "there being room again",
        ),
        Fault(
            "clickhouse_killed",
            "ClickHouse, by kill -9 in the middle of inserts",
            "writes answer 503 and are safe to send again; an outage is not a try of any row: one that was under "
            "way is given back by the next tick (until then Redis holds it; lost with Redis too, it counts)",
            "start it; `loom up` does by itself",
            "its answering again",
        ),
        Fault(
            "clickhouse_frozen",
            "ClickHouse, frozen",
            "callers are held for up to `LOOM_CLICKHOUSE_RECEIVE_TIMEOUT_S`, then as when it is away",
            "nothing to do",
            "its waking",
        ),
        Fault(
            "clickhouse_refuses",
            "ClickHouse answers 503",
            "as when it is away",
            "nothing to do",
            "its answering again",
        ),
        Fault(
            "clickhouse_drops",
            "the connection, after an INSERT was executed and before it was answered",
            "the caller is told it failed; the same rows inserted again count once",
            "nothing to do",
            "the network being whole again",
        ),
        Fault(
            "disk_full",
            "the disk ClickHouse writes to, full",
            "writes answer 503; what was landed before stands",
            "make room",
            "there being room again",
        ),
        Fault(
            "clock_back",
            "the clock: it steps an hour back on a machine of the fleet",
            "later versions of a row still count as later; leases are Redis's and do not move. Reads there are as of "
            "the hour before",
            "set it right",
            "the step",
        ),
        Fault(
            "failures_pile_up",
            "every projection of 10,000 rows",
            "the rows are answered `degraded`, and each has an open failure",
            "`projection_retry`, in batches",
            "the workers' start",
        ),
        Fault(
            "large_tenant",
            "nothing: one namespace has 100,000 rows waiting, another ten",
            "a tick goes round the namespaces, a batch each: the ten are done within two ticks",
            "nothing to do",
            "the ten rows' landing",
        ),
        Fault(
            "two_versions",
            "nothing: workers of two versions of the code share the queues",
            "each does what it knows; a message it does not understand is refused, and the next beat finds the rows",
            "nothing to do",
            "the rows' landing",
        ),
        Fault(
            "server_killed",
            "the server, between a row and its projections",
            "the row stands without a receipt",
            "`projection_retry` finds it after `LOOM_PROJECTION_RETRY_ORPHAN_AFTER_S`",
            "its death",
        ),
        Fault(
            "erasure_killed",
            "an erasure, at any step",
            "its tombstone stands: nothing it erased is projected again",
            "`projection_retry` goes on where it stopped",
            "its death",
        ),
        Fault(
            "stack_killed",
            "`loom up` itself, by kill -9",
            "a guard ends all its children; the data stays",
            "start it again",
            "its new start",
        ),
    )
}
