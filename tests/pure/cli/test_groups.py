"""Groups of options: declared once, typed on the command line as if each command had them itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from porter.cli.groups import spread
from porter.cli.main import main

NameOption = Annotated[str, typer.Option("--name", help="Whose.")]


@dataclass(frozen=True)
class Whose:
    name: NameOption = "nobody"
    times: Annotated[int, typer.Option("--times", min=1)] = 1


@pytest.fixture
def run():
    app, seen = typer.Typer(), []

    @app.command()
    @spread
    def greet(
        context: typer.Context,
        *,
        word: Annotated[str, typer.Argument()],
        whose: Whose,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> int:
        """Say it."""
        seen.append((context.info_name, word, whose, loud))
        return 7

    return lambda *arguments: (app(list(arguments), prog_name="greet", standalone_mode=False), seen[-1])


def test_a_group_arrives_whole(run):
    assert run("hello", "--times", "3", "--loud") == (7, ("greet", "hello", Whose("nobody", 3), True))
    assert run("hello", "--name", "me") == (7, ("greet", "hello", Whose("me", 1), False))


def test_what_its_options_do_not_allow_is_refused(run):
    with pytest.raises(typer.TyperException, match="greater than or equal to 1"):
        run("hello", "--times", "0")


@pytest.mark.parametrize("command", ["migrate", "verify", "bench", "record"])
def test_commands_that_execute_an_original_say_how_it_is_called(command, capsys):
    assert main([command, "--help"]) == 0
    said = capsys.readouterr().out
    assert all(
        f"{option} " in said
        for option in ("--kernel", "--contract", "--size", "--include-dir", "--define", "--time-limit")
    )
