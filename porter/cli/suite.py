"""`porter suite`: many operators brought up in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.build import Build
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    LONGEST_S,
    ArchOption,
    DebugFlag,
    FollowOption,
    JsonFlag,
    KernelOption,
    QuietFlag,
    SizeOption,
    TargetsOption,
    TimeLimitOption,
    check_writable,
    cores,
    named_path,
    parse_follow,
    parse_sizes,
)
from porter.cli.result_files import JunitOption, write_text
from porter.cli.search import (
    BaseUrlOption,
    EvaluatorOption,
    ModelOption,
    ModelSetOption,
    ModelsOption,
    PatienceOption,
    RoundsOption,
    SecondsOption,
    TokensOption,
    model_words,
    refuse_without_rounds,
)
from porter.errors import DONE, FELL_SHORT, PorterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from porter.suite.new import NewOperator
    from porter.suite.operators import Operator
    from porter.suite.run import SuiteOptions

suite = typer.Typer(name="suite", help="Port and check a suite of operators.", rich_markup_mode=None)

SuiteArgument = Annotated[
    Path, typer.Argument(metavar="SUITE", parser=named_path, help="A folder of operators; op_suites is porter's own.")
]
ViewOption = Annotated[str, typer.Option("--view", metavar="NAME", help="A named part of the suite, such as paper45.")]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="WORD", help="Only operators whose key contains this word; repeatable."),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        parser=named_path,
        help="The folder for results; a run in it is continued.",
    ),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", metavar="N", min=0, help="Number of operators at once; 0 means one for each core.")
]
FreshFlag = Annotated[bool, typer.Option("--fresh", help="Run operators again that already have a result.")]
FailedFirstFlag = Annotated[
    bool, typer.Option("--failed-first", help="Begin with the operators that fell short in the run in the folder.")
]
LimitOption = Annotated[
    float, typer.Option("--limit", metavar="S", min=1, max=LONGEST_S, help="Time limit for one operator.")
]


@suite.command("run")
def run(
    context: typer.Context,
    suite: SuiteArgument,
    target: TargetsOption,
    arch: ArchOption = "",
    view: ViewOption = "",
    only: OnlyOption = None,
    out: OutOption = Path("porter-suite"),
    jobs: JobsOption = 0,
    limit: LimitOption = 600.0,
    fresh: FreshFlag = False,
    failed_first: FailedFirstFlag = False,
    follow: FollowOption = "",
    rounds: RoundsOption = 0,
    seconds: SecondsOption = None,
    patience: PatienceOption = None,
    tokens: TokensOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = "",
    models: ModelsOption = None,
    model_set: ModelSetOption = None,
    evaluator: EvaluatorOption = None,
    junit: JunitOption = None,
    quiet: QuietFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Port and check every operator of a suite; a run that was stopped is continued."""
    from porter.cli.serve import evaluators_at
    from porter.native.place import missing_device
    from porter.registry import find_backend, find_target
    from porter.suite.run import SuiteOptions

    check_writable("--out", out)
    if not rounds:
        refuse_without_rounds(seconds=seconds, patience=patience, evaluator=evaluator)
    evaluators_at(evaluator or ())  # so that what is wrong is said once, and not of every operator
    asked = model_words(model, base_url, models, model_set, tokens)
    archs = {name: find_target(find_backend(name), arch).arch for name in target}
    wanted = [
        SuiteOptions(
            name,
            out / name,
            known,
            jobs=jobs or cores(),
            limit_s=limit,
            fresh=fresh,
            failed_first=failed_first,
            rounds=rounds,
            seconds=seconds,
            patience=patience,
            follow=parse_follow(follow) or "",
            timed=not missing_device(),
            models=asked,
            evaluators=tuple(evaluator or ()),
        )
        for name, known in archs.items()
    ]
    return _run_all(_chosen(suite, view, only), wanted, context.obj, junit)


def _run_all(operators: Sequence[Operator], asked: Sequence[SuiteOptions], console: Console, junit: Path | None) -> int:
    """Run the operators for each target, show the tables, write JUnit XML, and give the exit code of all."""
    from porter.cli.suite_progress import SuiteProgress
    from porter.report.suite.junit import suite_junit
    from porter.report.suite.tables import suite_document, suite_tables, suite_text
    from porter.suite.run import run_suite

    results = []
    for options in asked:
        if not (console.json or console.quiet):
            console.show(_beginning(operators, options))
        with console.progress() as step:
            result = run_suite(operators, options, SuiteProgress(console, step, options.folder, len(operators)))
        results.append(result)
        if not console.json:
            console.show(suite_text(result, suite_tables(result)))
        if not (console.json or console.quiet):
            console.show(_next_step(options))
    if console.json:
        documents = [suite_document(result, suite_tables(result)) for result in results]
        console.document({"runs": documents} if len(documents) > 1 else documents[0])
    if junit is not None:
        write_text(junit, suite_junit(results))
    return DONE if all(one.is_verified for result in results for one in result.results) else FELL_SHORT


def _beginning(operators: Sequence[Operator], options: SuiteOptions) -> Text:
    """Returns what a run is about to do, and how it goes on if it is stopped."""
    from rich.text import Text

    from porter.writing.counting import counted

    about = f"{counted(len(operators), 'operator')} for {options.target}, {options.jobs} at once, into {options.folder}"
    return Text(f"{about}; after Ctrl-C the same command goes on", "dim")


def _next_step(options: SuiteOptions) -> Text:
    """Returns how the run is read in a browser."""
    from rich.text import Text

    return Text(f"porter report {options.folder} --format html -o {options.target}.html makes a page of this", "dim")


@suite.command("list")
def list_operators(
    context: typer.Context,
    suite: SuiteArgument = Path("op_suites"),
    view: ViewOption = "",
    only: OnlyOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """List the operators of a suite."""
    from porter.report.suite.operators import operators_document, operators_text

    found = _chosen(suite, view, only)
    console: Console = context.obj
    console.document(operators_document(found)) if json else console.show(operators_text(found))
    return DONE


@suite.command("show")
def show(
    context: typer.Context,
    operator: Annotated[str, typer.Argument(metavar="OPERATOR", help="Its name or key.")],
    suite: SuiteArgument = Path("op_suites"),
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Show the contract and the files of one operator."""
    from porter.report.suite.operators import operator_document, operator_text

    found = [one for one in _chosen(suite, "", None) if operator in (one.name, one.key)]
    if len(found) != 1:
        names = ", ".join(one.key for one in found)
        raise UsageError(f"{operator}: " + (f"may be {names}" if found else f"no operator of {suite}"))
    console: Console = context.obj
    console.document(operator_document(found[0])) if json else console.show(operator_text(found[0]))
    return DONE


@suite.command("new")
@spread
def new(
    context: typer.Context,
    *,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", parser=named_path, help="A CUDA source, or a folder of them.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="DIR", parser=named_path, help="The suite's folder; it may have operators."
        ),
    ],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The operator's name; the file's name without it.")
    ] = "",
    category: Annotated[
        str, typer.Option("--category", metavar="NAME", help="Its category; porter guesses without it.")
    ] = "",
    kernel: KernelOption = None,
    size: SizeOption = None,
    build: Build,
    time_limit: TimeLimitOption = 20.0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Make operators of CUDA sources: copy each, run it, and draft its contract."""
    from porter.report.suite.operators import made_document, made_text
    from porter.suite.new import NewOperator, new_operator

    check_writable("--out", out)
    build.check()
    if path.is_dir() and (name or kernel or size):
        raise UsageError("--name, --kernel and --size are for one source, and this is a folder", "name the file")
    wanted = NewOperator(
        source=path,
        suite=out,
        name=name,
        category=category,
        kernels=tuple(kernel or ()),
        sizes=parse_sizes(size or ()),
        cache=cache_folder(),
        time_limit_s=time_limit,
    )
    console: Console = context.obj
    if path.is_dir():
        return _made_of_folder(wanted, build, console)
    made = new_operator(_built(wanted, build))
    console.document(made_document(made)) if json else console.show(made_text(made))
    return DONE


def _made_of_folder(wanted: NewOperator, build: Build, console: Console) -> int:
    """Make an operator of each source below a folder; what cannot be one is named, and the others are made."""
    from dataclasses import replace

    from porter.cli.sources import named_sources
    from porter.report.suite.operators import NotMade, made_all_document, made_all_text, made_line
    from porter.suite.new import MadeOperator, new_operator

    came: list[MadeOperator | NotMade] = []
    for source in named_sources([wanted.source]):
        try:
            with console.progress() as step:
                step(f"reading {source.path}")
                came.append(new_operator(_built(replace(wanted, source=source.path), build)))
        except PorterError as error:
            came.append(NotMade(source.path, error.message))
        if not console.json:
            console.show(made_line(came[-1]))
    console.document(made_all_document(came)) if console.json else console.show(made_all_text(came, wanted.suite))
    return DONE if all(isinstance(one, MadeOperator) for one in came) else FELL_SHORT


def _built(wanted: NewOperator, build: Build) -> NewOperator:
    """With the folders and macros of the source's build."""
    from dataclasses import replace

    built = build.of(wanted.source)
    return replace(wanted, include_dirs=built.include_dirs, defines=built.defines)


def _chosen(root: Path, view: str, only: list[str] | None) -> tuple[Operator, ...]:
    """The operators that the command line names; porter's own suites need not lie in the current folder."""
    from porter.resources import resource
    from porter.suite.selection import find_operators

    own = root if root.exists() or root.parts[:1] != ("op_suites",) else resource("op_suites").joinpath(*root.parts[1:])
    found = tuple(o for o in find_operators(own, view) if not only or any(word in o.key for word in only))
    if not found:
        raise UsageError(f"no operator of {root} has {' or '.join(only or ())} in its key", "porter suite list")
    return found
