"""What is said of an argument names it."""

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg
from porter.contract.model.dtype import DType
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.judge.naming import with_names
from porter.evaluate.judge.prove import Proof
from porter.evaluate.model.migration import EntryOutcome
from porter.evaluate.model.outcome import NotVerified, Verified

CONTRACT = Contract(
    "f", "other", Entry(EntryKind.POINTER, "f"),
    (ScalarArg("n", "int", "n"), TensorArg("weights", Role.IN, DType.FLOAT32, ("n",))), ("n",), (), (), {},
)  # fmt: skip


def proof(outcome, *findings, apart=()):
    return Proof(EntryOutcome(CONTRACT, outcome), findings, apart=apart)


def test_a_reason_and_what_was_found_name_arguments_as_the_source_does():
    found = Finding("PORT4001", Severity.ERROR, "reads `argument 1` (8 bytes)", hint="beside `argument 1`")
    inner = proof(NotVerified("writes `argument 1`"))
    named = with_names(proof(NotVerified("leaves `argument 1`, then `argument 7`"), found, apart=(inner,)))
    assert named.entry.outcome == NotVerified("leaves `weights`, then `argument 7`")
    (told,) = named.findings
    assert (told.message, told.hint) == ("reads `weights` (8 bytes)", "beside `weights`")
    assert named.apart[0].entry.outcome == NotVerified("writes `weights`")


def test_what_is_verified_has_no_reason():
    assert with_names(proof(Verified(()))) == proof(Verified(()))
