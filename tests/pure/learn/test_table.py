import json

import pytest

from porter.errors import InputError
from porter.learn.landscape import family_of, tabular
from porter.learn.records import plain
from porter.learn.table import Baselines, read_table
from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule

SMALL = NestDescription((), (64,), 256, 4, (1, 1), 1, 0, 1, 0, False)
NEST = NestDescription((4096,), (1000,), 16384000, 16384000, (2, 3), 1, 0, 4, 2, False)


def row(**changed):
    own = {
        "name": "suite/norm/softmax",
        "category": "norm",
        "nests": [plain(SMALL), plain(NEST)],
        "schedules": [
            {"schedule": {"algorithm": "held", "warps": 8}, "microseconds": 20.0, "samples": [19.0, 21.0]},
            {"schedule": plain(Schedule(Algorithm.STREAMED, evict_first=True)), "microseconds": 31.5, "samples": []},
            {"schedule": plain(Schedule(Algorithm.SPLIT, parts=4)), "microseconds": None, "samples": []},
        ],
        "order": [1, 0, 1],
        "baselines": {"eager_us": 50.0, "torch_compile_us": None},
    }
    return own | changed


def written(tmp_path, *rows, **changed):
    file = tmp_path / "table.json"
    file.write_text(json.dumps({"about": {"device": "H100", "clock": 1980}, "operators": list(rows)} | changed))
    return file


def test_a_table_has_operators_with_schedules_and_times(tmp_path):
    table = read_table(written(tmp_path, row()))
    (one,) = table.operators
    assert table.about == {"device": "H100", "clock": "1980"}
    assert (one.nest, one.order) == (NEST, (1, 0))
    assert one.trials[0].schedule == Schedule(Algorithm.HELD, warps=8)
    assert [trial.microseconds for trial in one.trials] == [20.0, 31.5, None]
    assert one.baselines == Baselines(50.0, None, None)
    (place,) = tabular(table)
    assert (place.best_us, place.family) == (20.0, "normalisation")


def test_an_operator_of_which_one_schedule_ran_teaches_nothing(tmp_path):
    one = {"schedule": {"algorithm": "flat"}, "microseconds": 1.0}
    assert tabular(read_table(written(tmp_path, row(schedules=[one], order=[])))) == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"nests": ["rows x columns"]}, "is not dict"),
        ({"nests": []}, "no nests"),
        ({"order": [7]}, "an order of others"),
        ({"schedules": [{"schedule": {"algorithm": "magic"}, "microseconds": 1.0}]}, "magic"),
        ({"schedules": [{"schedule": {"algorithm": "flat", "tile": 1}, "microseconds": 1.0}]}, "tile"),
        ({"schedules": [{"schedule": {"algorithm": "flat"}, "microseconds": -1}]}, "not a time"),
        ({"schedules": "many"}, "not a list"),
    ],
)
def test_an_operator_that_cannot_be_believed_is_named(tmp_path, changed, said):
    with pytest.raises(InputError, match=said) as caught:
        read_table(written(tmp_path, row(**changed)))
    assert "operator suite/norm/softmax" in caught.value.message


def test_what_is_no_table_is_said_to_be_none(tmp_path):
    with pytest.raises(InputError, match="no list 'operators'"):
        read_table(written(tmp_path, operators=None))
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("nest", "family"),
    [
        (NestDescription((8,), (), 32, 32, (1, 1), 1, 0, 1, 0, False), "pointwise"),
        (NestDescription((8,), (), 32, 32, (1, 1), 9, 0, 1, 0, False), "window"),
        (NestDescription((8,), (8,), 256, 256, (1, 1), 1, 1, 1, 0, False), "running"),
        (NestDescription((8,), (8,), 256, 32, (1, 1), 1, 0, 1, 0, False), "reduction"),
        (NestDescription((8,), (8,), 256, 32, (1, 1), 1, 0, 1, 0, True), "reduction over rows that are neighbours"),
        (NEST, "normalisation"),
    ],
)
def test_a_family_is_told_by_the_form_of_a_nest(nest, family):
    assert family_of(nest) == family
