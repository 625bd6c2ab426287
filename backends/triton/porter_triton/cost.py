"""Models what a module costs at sizes for a device: plans it, compiles it, and walks one program of each launch.

Only the module's own host code runs, on tensors without elements. The middle program of a grid stands for all.
"""

from __future__ import annotations

import hashlib

from porter.backend import Port, Target
from porter.contract.model.contract import Contract, Workload
from porter.cost_model.estimate import estimate
from porter.cost_model.program import Program
from porter.cost_model.words import launch_in_words
from porter.evaluate.problem.bench import Bench
from porter.evolve.scoring.cost import Cost
from porter.execution.job import Construction
from porter.translation_unit import TranslationUnit
from porter_triton.compiled_plan import Compiled, CompiledLaunch, CompiledPlan, compiled_plan
from porter_triton.model.lanes import WARP_SIZE
from porter_triton.model.ptx import parse
from porter_triton.model.walk import Counts, Launched, TooLongError, walk

_NVIDIA = "sm_"


def cost(  # noqa: PLR0917 - what the backend's method is asked
    port: Port,
    original: TranslationUnit,
    contract: Contract,
    workload: Workload,
    target: Target,
    bench: Bench,
    construction: Construction | None = None,
) -> Cost | str:
    """Returns the sum over the launches of a call at `workload`; in words why not, where it cannot be told."""
    chip = target.chip
    if chip is None or not target.arch.startswith(_NVIDIA):
        return f"there is no model of {target.arch}"
    plan = compiled_plan(port, original, contract, workload, target, bench, construction)
    if isinstance(plan, str):
        return plan
    if not plan.launches:
        return "it launches nothing"
    try:
        parts = [(launch, program_of(launch)) for launch in plan.launches]
    except TooLongError:
        return "a program goes on for too long to be walked"
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        # Assembly that a module brings along may be anything.
        return f"its instructions are not understood ({type(error).__name__}: {error})"
    estimates = [estimate(program, launch.grid, plan.buffers, chip) for launch, program in parts]
    said = tuple(
        launch_in_words(launch.kernel, launch.grid, program, part, launch.tensors, plan.buffers, chip)
        for (launch, program), part in zip(parts, estimates, strict=True)
    )
    moved = sum(part.traffic.moved for part in estimates)
    return Cost(sum(part.total for part in estimates), said, moved, plan.returned_bytes, _digest(plan))


def program_of(launch: CompiledLaunch) -> Program:
    """Returns the middle program of one launch. Raises `TooLongError`."""
    x, y, z = launch.grid
    made = launch.compiled
    middle = Launched(launch.arguments, launch.grid, (x // 2, y // 2, z // 2), made.warps)
    return counted(walk(parse(made.ptx), middle), made)


def counted(counts: Counts, made: Compiled) -> Program:
    """Returns the program with these counts."""
    return Program(
        made.warps,
        WARP_SIZE,
        made.registers,
        made.shared_bytes,
        made.local_bytes,
        counts.slots,
        counts.cycles,
        counts.shared,
        tuple(counts.accesses.by_place.values()),
    )


def _digest(plan: CompiledPlan) -> str:
    """Returns the digest of what the compiler made of the launches, wherever the module lies."""
    digest = hashlib.blake2b(digest_size=8)
    for launch in plan.launches:
        lines = (line.split("//", 1)[0].strip() for line in launch.compiled.ptx.split(".section", 1)[0].splitlines())
        code = "\n".join(line for line in lines if not line.startswith((".loc", ".file", "$L__tmp")))
        digest.update(f"{launch.grid} {launch.compiled.warps}\n{code}\n".encode())
    return digest.hexdigest()
