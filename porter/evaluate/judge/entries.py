"""All entries of a source compared with what answers for them, and what each verdict leaves out, said in it."""

from __future__ import annotations

from dataclasses import dataclass

from porter.backend import Port
from porter.contract.analysis.usage import usage_of
from porter.contract.infer.draft import draft
from porter.contract.model.asked import check_sizes
from porter.contract.model.contract import Contract
from porter.contract.model.reader import load_contracts
from porter.evaluate.judge.fallback import Fallback
from porter.evaluate.judge.instantiated import with_instances
from porter.evaluate.judge.launched import with_kernels
from porter.evaluate.judge.naming import with_names
from porter.evaluate.judge.ported import Ported
from porter.evaluate.judge.prove import Answering, Proof, Prover, as_built, with_caveat
from porter.evaluate.judge.unexecuted import with_unexecuted
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.evaluate.problem.bench import Bench
from porter.evaluate.reference.judging import Judging
from porter.source.program import Program
from porter.translation_unit import TranslationUnit
from porter.warp.explicit import with_warp_barriers

_NO_PROGRAMS = "main itself was not ported and not compared"
LOCKSTEP = (
    "the original, whose lanes trust each other to run in lockstep, was executed with the __syncwarp() that takes"
)


@dataclass(frozen=True)
class Entries:
    """A source, its `port`, and that as it is executed; `answering` may put something else in its place.

    With `all_or_none` the first entry that is not found equal ends it, and no kernel is proven in its launcher's place.
    """

    original: TranslationUnit
    port: Port
    ported: Ported
    place: Bench
    options: MigrateOptions
    judging: Judging | None = None
    answering: Answering = as_built
    all_or_none: bool = False

    def proofs(self, progress: Progress) -> list[Proof]:
        """Returns a proof of each entry, or of the parts of one that cannot be run.

        Raises `ContractError` and `InputError` for an invalid contract of the user's, `UsageError` for a size that no
        contract has.
        """
        original, headers = self.original, tuple(header for _, header in self.original.headers)
        contracts = contracts_of(original, self.options, whole_program=self.ported.runs_programs)
        explicit = with_warp_barriers(original.program, list(headers))
        prover = self._prover(original.replaced(explicit))
        fallback = Fallback(prover, self.port, self.options, progress)
        proofs = prover.prove(contracts, progress) if self.all_or_none else fallback.proofs(contracts)
        proofs = [with_caveat(proof, LOCKSTEP) for proof in proofs] if explicit else proofs
        if not self.ported.runs_programs and _is_program(original.program):
            proofs = [with_caveat(proof, _NO_PROGRAMS) for proof in proofs]
            is_asked = self.options.contract is not None or self.judging
            proofs = proofs if is_asked else [fallback.alone(proof) for proof in proofs]
        usage = usage_of(original.program, headers)
        proofs = [part for proof in proofs for part in with_kernels(with_names(proof), usage)]
        return with_unexecuted([with_instances(proof, usage) for proof in proofs])

    def _prover(self, original: TranslationUnit) -> Prover:
        options, stated = self.options, self.options.contract is not None
        return Prover(
            original,
            self.ported,
            options.sizes,
            self.place,
            stated,
            self.judging,
            options.deadline,
            self.answering,
            self.all_or_none,
        )


def _is_program(program: Program) -> bool:
    return any(function.qualified == "main" for function in program.host_functions)


def contracts_of(original: TranslationUnit, options: MigrateOptions, *, whole_program: bool) -> tuple[Contract, ...]:
    """Returns the user's contract, or the drafted ones.

    Raises `ContractError` and `InputError` for one that is no contract, `UsageError` for a size that none of them has.
    """
    if options.contract is None:
        return draft(
            original.program,
            kernels=options.kernels,
            sizes=options.sizes,
            whole_program=whole_program,
            headers=tuple(header for _, header in original.headers),
        )
    contracts = load_contracts(options.contract)
    check_sizes(options.sizes, contracts, options.contract)
    return contracts
