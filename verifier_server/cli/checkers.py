"""`verifier-server checkers list|show|test`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verifier_server.cli.serve import UnsafeNoSandbox
from verifier_server.cli.terminal import printable, stdout

if TYPE_CHECKING:
    from verifier_server.checkers.base import Checker, Example
    from verifier_server.checkers.runtime import CheckRuntime

_STYLES = {"ok": "green", "broken": "red", "unavailable": "yellow"}

app = typer.Typer(help="Look at the checkers that are installed here.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]


@app.command("list")
def list_checkers(as_json: AsJson = False) -> None:
    """List all checkers with their state on this machine."""
    from rich.table import Table
    from rich.text import Text

    from verifier_server.checkers.registry import get_registry
    from verifier_server.cli.configuration import load_settings
    from verifier_server.cli.host import describe_checkers, probe_sandbox

    infos = describe_checkers(get_registry(), probe_sandbox(load_settings().sandbox_address))
    if as_json:
        typer.echo(json.dumps([info.model_dump() for info in infos], indent=2))
        return
    table = Table("checker", "version", "status", box=None)
    table.add_column("what it does", overflow="fold")
    for info in infos:
        needs = info.needs.strip().splitlines()
        what = info.summary if info.status == "ok" else needs[-1]
        status = Text(info.status, _STYLES[info.status])
        table.add_row(info.name, info.version or "-", status, Text(what))
    stdout().print(table)


@app.command("show")
def show_checker(name: str, as_json: AsJson = False) -> None:
    """Show a checker's version, params and examples; of a broken one, its traceback."""
    from verifier_server.checkers.registry import get_registry

    info = get_registry().describe(name)
    if as_json:
        typer.echo(json.dumps(info.model_dump(), indent=2))
        return
    console = stdout()
    console.print(f"{info.name} {info.version or ''} ({info.status})", style="bold", markup=False)
    console.print(info.needs or info.summary, markup=False)
    if info.status != "ok":
        return
    console.print("\nparams (JSON Schema)", style="bold")
    console.print_json(data=info.params_schema)
    console.print("\nexamples", style="bold")
    console.print_json(data=info.examples)


@app.command("test")
def self_test(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only this checker.")] = None,
    unsafe_no_sandbox: UnsafeNoSandbox = False,
) -> None:
    """Let checkers judge their own examples. Exits with 1 if any verdict is not as promised."""
    from rich.table import Table
    from rich.text import Text

    from sandboxes.registry import open_provider
    from verifier_server.checkers.registry import get_registry
    from verifier_server.checkers.runtime import CheckRuntime
    from verifier_server.cli.configuration import load_settings
    from verifier_server.errors import BrokenChecker

    registry = get_registry()
    sandbox = load_settings(unsafe_no_sandbox=unsafe_no_sandbox).sandbox_address
    runtime = CheckRuntime(registry, lambda: open_provider(sandbox))
    table = Table("checker", "examples", "passed", box=None)
    all_failures: list[str] = []
    for each in [name] if name else registry.names():
        try:
            checker = registry.get(each)
            if why := checker.unavailable():
                table.add_row(each, "0", Text(f"unavailable: {why}", "yellow"))
                continue
            failures, count = _failures(runtime, checker), len(checker.examples)
        except BrokenChecker as error:
            failures, count = [str(error)], 0
        passed = Text(f"{max(0, count - len(failures))}", "red" if failures else "green")
        table.add_row(each, str(count), passed)
        all_failures += [f"{each}: {failure}" for failure in failures]
    console = stdout()
    console.print(table)
    for failure in all_failures:
        console.print(failure, style="red", markup=False)
    if all_failures:
        raise typer.Exit(1)


def _failures(runtime: CheckRuntime, checker: Checker[Any]) -> list[str]:
    examples: Sequence[Example] = checker.examples
    return [why for example in examples if (why := _failure(runtime, checker.name, example))]


def _failure(runtime: CheckRuntime, name: str, example: Example) -> str:
    """How the judgement differs from the promised one; "" if it does not."""
    from verifier_server.checkers.runtime import Task

    judged = runtime.judge(Task(name, example.completion, example.params, example.prompt))
    same_outcome = example.outcome in (None, judged.outcome)
    if judged.score == example.score and same_outcome:
        return ""
    promised = example.outcome.value if example.outcome else f"score {example.score}"
    what = f'"{printable(example.completion, 60)}": {judged.outcome.value}, not {promised}'
    return f"{what}: {printable(judged.explanation)}"
