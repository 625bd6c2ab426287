"""Steps made by hand: a search in which each candidate is worth what a list says."""

from porter.evolve.candidate import File
from porter.evolve.scored import Measure, Score, Scored
from porter.learn.steps import Action, Decision, Program, Situation, Step, Work

ORIGINAL = "__global__ void scale(float* y, const float* x, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"


def scored(factor, noise=0.01, digest="d"):
    """What is worth `factor`; 0 is wrong."""
    if not factor:
        return Scored(digest, "wrong", "at [0]")
    return Scored(digest, "verified", "", Score(Measure.NATIVE, factor, factor * (1 - noise), factor * (1 + noise)))


def program(factor, text="x = 0\n", is_seed=False):
    return Program((File("k.py", text),), scored(factor), is_seed)


def step(number, factor, parent=1.0, exemplars=(), *, text="", run="run", category="norm", original=ORIGINAL):
    """Step 0 is the seed; a parent that is worth 1 is the seed, too."""
    own = None if number == 0 else program(parent, is_seed=parent == 1.0)
    files = (File("k.py", text or f"x = {number}\n"),)
    situation = Situation(number, 0, own, tuple(map(program, exemplars)))
    action = Action("seed" if number == 0 else "schedule", "turned", {"warps": 4, "hint": "none"}, files, "", ())
    work = Work(run, "scale.cu", category, "triton", "sm_90", original)
    return Step(work, number, situation, action, scored(factor, digest=f"{run}{number}"), Decision("no", "because"))


def search(*factors, run="run", **about):
    """A search whose candidates all change the seed."""
    return [step(number, factor, run=run, **about) for number, factor in enumerate((1.0, *factors))]
