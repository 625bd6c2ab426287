"""Every operator is looked at before any is looked at twice, and nothing is judged that an earlier run has judged."""

from pathlib import Path

from benchmarks.mutation import journal
from benchmarks.mutation.journal import Entry
from benchmarks.mutation.schedule import Mutant, Pair, Ported, Schedule, Settings
from porter.suite.operators import Operator

SETTINGS = Settings(seed=1, each=2, commit="abc")
PAIRS = [Pair(Operator("suite", "category", name, Path(name)), "triton") for name in ("first", "second")]


def port(pair: Pair) -> Mutant:
    return Mutant(pair, journal.PORT, "", f"port of {pair.operator.name}")


def mutants(pair: Pair) -> tuple[Mutant, ...]:
    return tuple(Mutant(pair, "sign", f"-a\n+{n}", f"{pair.operator.name}: {n}") for n in range(2))


def entry(mutant: Mutant, outcome: str, commit: str = "abc") -> Entry:
    operator, target, digest = mutant.key
    return Entry(operator, target, mutant.kind, digest, mutant.shown, outcome, "", "", 1.0, commit)


def remaining(schedule: Schedule) -> list[Mutant]:
    return list(iter(schedule.next, None))


def begun(known: list[Entry], settings: Settings = SETTINGS) -> Schedule:
    schedule = Schedule(settings, {one.key: one for one in known})
    for pair in PAIRS:
        schedule.is_ported(Ported(port(pair), mutants(pair)))
    return schedule


def test_ports_come_first_then_the_first_mutant_of_each():
    schedule = begun([])
    assert remaining(schedule) == [port(pair) for pair in PAIRS]
    for pair in PAIRS:
        schedule.is_judged(entry(port(pair), "verified"))
    assert remaining(schedule) == [mutants(pair)[n] for n in range(2) for pair in PAIRS]


def test_a_port_that_is_not_verified_has_no_mutants_judged():
    schedule = begun([])
    remaining(schedule)
    schedule.is_judged(entry(port(PAIRS[0]), "not_verified"))
    assert remaining(schedule) == []


def test_what_is_known_is_not_judged_again_but_for_ports_by_another_commit():
    known = [
        entry(port(PAIRS[0]), "verified"),
        entry(mutants(PAIRS[0])[0], "wrong"),
        entry(port(PAIRS[1]), "verified", "old"),
    ]
    assert remaining(begun(known)) == [port(PAIRS[1]), mutants(PAIRS[0])[1]]


def test_survivors_alone_are_judged_again_where_that_is_asked():
    known = [
        *(entry(port(pair), "verified") for pair in PAIRS),
        entry(mutants(PAIRS[0])[0], "wrong"),
        entry(mutants(PAIRS[1])[1], "verified"),
    ]
    assert remaining(begun(known, Settings(1, 2, "abc", survivors=True))) == [mutants(PAIRS[1])[1]]
