"""`porter doctor --warm`: it must build just what migrations build, or it warms nothing."""

from porter.dialect import CUDA
from porter.simt.compiler import uses_torch
from porter_maca.dialect import MACA


def test_every_kind_of_build_a_migration_makes_is_prepared(porter, monkeypatch, tmp_path):
    prepared, linked = [], []
    warm = "porter.evaluate.problem.warm"
    monkeypatch.setattr(f"{warm}.prepare_header", lambda request, cache: prepared.append((request, cache)))
    monkeypatch.setattr(f"{warm}.prepare_executor", lambda request, cache: linked.append((request, cache)))
    assert porter("doctor", "--warm", "--json").code == 0
    assert {cache for _, cache in (*prepared, *linked)} == {tmp_path / "cache"}
    assert sorted((uses_torch(r), r.double_precision) for r, _ in linked) == [(False, False), (True, False)]
    kinds = [(uses_torch(r), r.dialect, r.warp_size, r.double_precision) for r, _ in prepared]
    assert len(kinds) == len(set(kinds))
    assert (
        {kind[1:] for kind in kinds if kind[0]}
        == {kind[1:] for kind in kinds if not kind[0]}
        == {
            (CUDA, 32, False),
            (MACA, 64, False),
            (MACA, 32, False),
        }
    )
    assert all(request.watched for request, _ in prepared)


def test_doctor_builds_nothing_unless_asked(porter, monkeypatch):
    for name in ("prepare_header", "prepare_executor"):
        monkeypatch.setattr(f"porter.evaluate.problem.warm.{name}", lambda *_: 1 / 0)
    assert porter("doctor").code == 0
