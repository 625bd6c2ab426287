"""`porter survey`: what is in a tree, and what will be hard."""

import pytest

EASY = "__global__ void easy(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n"
WARPS = "__global__ void warps(float* x) { x[0] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 16); }\n"
HARD = "texture<float, 2> grid;\n__global__ void hard(float* x) { x[0] = tex2D(grid, 0, 0); }\n"


@pytest.fixture(autouse=True)
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    for name, text in (("easy.cu", EASY), ("warps.cu", WARPS), ("deep/hard.cu", HARD), ("deep/cut.cu", "\0\0")):
        (tmp_path / "src" / name).write_text(text)


def test_sources_are_counted_by_what_is_left_to_do(porter):
    done = porter("survey", "src", "--target", "maca", "--json")
    assert (done.code, done.stderr) == (0, "")
    document = done.document
    efforts = {one["path"]: one["effort"] for one in document["sources"]}
    assert (efforts["src/easy.cu"], efforts["src/warps.cu"]) == ("none", "none")
    assert efforts["src/deep/hard.cu"] in ("hours", "rewrite")
    assert sum(document["by_effort"].values()) == len(document["sources"])
    assert [list(one) for one in document["unreadable"]] == [["path", "because"]]


def test_the_hardest_kind_comes_first_with_its_place(porter):
    kinds = porter("survey", "src", "--target", "maca", "--json").document["findings"]
    assert kinds[0]["code"] in ("PORT1100", "PORT2008")
    assert kinds[0]["first"].startswith("src/deep/hard.cu:")
    assert {one["code"] for one in kinds} >= {"PORT1002", "PORT1003"}


def test_people_are_told_what_to_do_next_and_every_source_where_they_ask(porter):
    text = porter("survey", "src", "--target", "maca").stdout
    assert "Nothing was executed" in text
    assert "src/easy.cu" not in text
    assert "src/easy.cu" in porter("survey", "src", "--target", "maca", "-v").stdout


def test_several_targets_are_surveyed_one_by_one(porter):
    surveys = porter("survey", "src", "--target", "maca", "--target", "triton", "--json").document["surveys"]
    assert [one["target"] for one in surveys] == ["maca", "triton"]
