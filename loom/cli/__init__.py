"""The `loom` command. Each command's module is loaded when it is called, so that `loom --help` answers at once."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("loom.stack.command:up_command", "Run the whole stack on this machine."),
    "migrate": ("loom.cli.install:migrate_command", "Bring the schema up to date."),
    "import": ("loom.cli.imports:import_group", "Import a git history, JSON lines or Markdown."),
    "drain": ("loom.cli.fleet:drain_command", "Wait until nothing awaits extraction, projection or a close."),
    "status": ("loom.cli.fleet:status_command", "Show every worker: gate, last run, backlog, failures."),
    "failures": ("loom.cli.failures:failures_group", "List, show and requeue what failed."),
    "replay": ("loom.cli.replay:replay_group", "Replay supersession closes or projections."),
    "communities": ("loom.cli.communities:communities_group", "Cluster entities, show and tune communities."),
    "verify": ("loom.cli.graph:verify_command", "Compare the graph with the rows it came from."),
    "entity-export": ("loom.cli.graph:export_command", "Write the graph as GraphML or JSON-LD."),
    "graph": ("loom.cli.graph:graph_group", "Maintain stored nodes."),
    "mint-token": ("loom.cli.install:mint_token_command", "Make a token for a caller."),
    "doctor": ("loom.cli.doctor:doctor_command", "Check an installation and say what to do."),
    "mcp": ("loom.cli.install:mcp_command", "Serve MCP over stdio."),
    "faults": ("loom.cli.install:faults_command", "List the fault points that tests can set."),
}


class LazyCommands(click.Group):
    """Loads a command's module only when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed. Raises `NoSuchCommand` naming those that are near it."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=COMMANDS, ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="loom-memory", prog_name="loom")
def main() -> None:
    """Loom keeps an entity graph beside agents' memory rows.

    Exit codes: 0 success, 2 bad usage, 1 otherwise. Every command finds its stack by LOOM_CLICKHOUSE_URL and
    LOOM_REDIS_URL, else by stack.json in the data folder that a running `loom up` writes.
    """
