"""What a verdict says of launches that only calls at sizes for a device have."""

from porter.evaluate.judge.device_sizes import DeviceSizes
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.rehearsal import Rehearsal
from porter.evaluate.model.outcome import Verified
from porter.evaluate.reference.judging import Judging
from porter.execution.job import Fault, FaultKind, Job, Run


def launched(block: int) -> Fault:
    return Fault(
        FaultKind.UNKNOWN, "", 0, "k", f"it launches k with BLOCK={block}, which no workload did",
        about="launches of k with other BLOCK",
    )  # fmt: skip


def named(*faults: Fault) -> str:
    """Returns what is said where a call of `n` elements shows the fault with the number `n // 1000`."""

    def rehearse(job: Job) -> Run:
        return Run(True, 0, (), (), (), (), (), (faults[job.seed // 1000],), "", "", 0.0)

    calls = [Rehearsal(({"n": 1000 * n},), lambda sizes: Job((), seed=sizes["n"])) for n in range(len(faults))]
    found = DeviceSizes([Candidate(None, rehearse, rehearse=rehearse)], calls, Judging(1, {}))
    return found.named(Verified(()), frozenset()).caveat


def test_choices_of_one_constant_are_said_once():
    first = "at sizes for a device it launches k with BLOCK=64, which no workload did"
    assert named(*map(launched, (64, 128, 128, 256))) == f"{first} (the same holds for 2 other choices)"


def test_another_kernel_is_said_for_itself():
    other = Fault(FaultKind.UNKNOWN, "", 0, "other", "it launches other, which no workload did")
    assert named(launched(64), other).count("at sizes for a device") == 2
