"""`loom communities`: a pass now, a community's members, and what each setting would do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from loom.cli.gates import force_option, require_gate
from loom.cli.session import (
    data_dir_option,
    err,
    json_option,
    open_session,
    out,
    print_json,
    reports_errors,
    scope_of,
    scope_options,
    stage_bars,
)
from loom_core import clock
from loom_core.storage.statements import sql

SHOWN_HUBS = 8


@click.group("communities")
def communities_group() -> None:
    """Clusters of entities, by label propagation with the hubs left out."""


@communities_group.command("run")
@scope_options
@data_dir_option
@force_option
@json_option
@reports_errors
def run_command(
    org: str | None, namespace: str | None, data_dir: Path | None, force: bool, as_json: bool
) -> None:
    """Compute the communities of a namespace now."""
    from loom_core.community_pass.run import run_pass

    session = open_session(data_dir)
    require_gate(session.settings, "entity_communities", force)
    scope = scope_of(session, org, namespace)
    with stage_bars() as progress:
        result = run_pass(session.store, scope, session.settings, progress=progress)
    names = {"org": scope.org, "namespace": scope.namespace}
    stored = session.store.dicts(sql("overview.community_pass"), **names)
    summary = {"status": result.status, "seconds": round(result.seconds, 2)} | (stored[0] if stored else {})
    if as_json:
        print_json(summary)
    elif result.status != "written":
        out.print(f"{result.status}: the previous pass, if there was one, stays readable")
    else:
        out.print(
            f"{summary['communities']} communities of {summary['entities']} entities and {summary['edges']} edges in "
            f"{result.seconds:.1f} s; the largest holds {summary['giant_share']:.1%}, modularity "
            f"{summary['modularity']:.3f}; {len(summary['dropped'])} hubs left out"
        )
        out.print("left out: " + (", ".join(summary["dropped"][:SHOWN_HUBS]) or "none"), markup=False)
        if summary["capped"]:
            out.print(
                "the largest community stays over LOOM_ENTITY_COMMUNITIES_GIANT_SHARE whatever is dropped: usual for a "
                "small or one-topic graph; else see `loom communities tune`"
            )


@communities_group.command("show")
@click.argument("community_id", metavar="ID", type=click.IntRange(0))
@click.option("--level", default=0, show_default=True, type=click.IntRange(0, 4))
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 100_000))
@scope_options
@data_dir_option
@json_option
@reports_errors
def show_command(
    community_id: int, level: int, limit: int, org: str | None, namespace: str | None, data_dir: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """A community's members, the strongest first."""
    session = open_session(data_dir)
    scope = scope_of(session, org, namespace)
    members = session.store.rows(
        sql("overview.community_members"), org=scope.org, namespace=scope.namespace, community=community_id,
        level=level, limit=limit,
    )  # fmt: skip
    if as_json:
        print_json([{"entity": entity, "weight": weight} for entity, weight in members])
    elif not members:
        largest = session.store.rows(
            sql("overview.largest_communities"), org=scope.org, namespace=scope.namespace, level=level
        )
        there = ", ".join(f"{each} ({count} entities)" for each, count in largest)
        advice = f"the largest are {there}" if there else "`loom communities run` makes a pass"
        err.print(f"loom: there is no community {community_id} at level {level}; {advice}")
    else:
        for entity, weight in members:
            out.print(f"{weight:8}  {entity}", markup=False)
    if not members:
        sys.exit(1)


@communities_group.command("tune")
@scope_options
@data_dir_option
@json_option
@reports_errors
def tune_command(org: str | None, namespace: str | None, data_dir: Path | None, as_json: bool) -> None:
    """The degree tail, and what each fraction of the hub drop would do. Writes nothing."""
    from loom_core.communities import DropRule, build_graph, degree_tail, what_if
    from loom_core.community_pass.reading import open_graph

    session = open_session(data_dir)
    scope, settings = scope_of(session, org, namespace), session.settings
    reader = open_graph(session.store, scope, clock.now())
    with stage_bars() as progress:
        graph = build_graph(reader.edges())
        rule = DropRule(
            settings.entity_communities_hub_drop_fraction,
            settings.entity_communities_hub_drop_max,
            settings.entity_communities_giant_share,
        )
        outcomes = what_if(
            graph, rule, by_name=reader.order, progress=lambda done, total: progress("fractions", done, total)
        )
    tail = [point._asdict() for point in degree_tail(graph)] if graph.entities else []
    rows = [_plain(outcome) for outcome in outcomes]
    if as_json:
        print_json({"entities": graph.entities, "tail": tail, "fractions": rows})
        return
    table = Table("entities", "share", "degree from", "of all weight", title="degree tail", box=None)
    for point in tail:
        table.add_row(
            str(point["entities"]),
            f"{point['fraction']:g}",
            str(point["degree"]),
            f"{point['weight_share']:.1%}",
        )
    out.print(table)
    table = Table(
        "fraction", "dropped", "communities", "largest", "modularity", "", title="hub drop", box=None
    )
    for row in rows:
        table.add_row(
            f"{row['fraction']:g}", str(row["dropped"]), str(row["communities"]), f"{row['giant_share']:.1%}",
            f"{row['modularity']:.3f}", "kept" if row["kept"] else "",
        )  # fmt: skip
    out.print(table)


def _plain(outcome: Any) -> dict[str, Any]:
    fields: dict[str, Any] = outcome._asdict()
    return fields | {"dropped": len(outcome.dropped), "left_out": len(outcome.left_out)}
