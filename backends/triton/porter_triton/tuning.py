"""What an autotuner does where there is nothing to measure. Only the worker imports this."""

from __future__ import annotations

from triton.runtime.autotuner import Autotuner

from porter_triton.judging.flow import Flow


def take_turns(flow: Flow) -> None:
    """From here on each job of `flow` takes the next configuration of every autotuner: all of them are judged."""

    def run(tuner: Autotuner, *given: object, **options: object) -> object:
        tuner.nargs = dict(zip(tuner.arg_names, given, strict=False))
        configurations = tuner.prune_configs(options) if len(tuner.configs) > 1 else tuner.configs
        tuner.best_config = chosen = configurations[flow.job % len(configurations)]
        if chosen.pre_hook is not None:
            chosen.pre_hook({**tuner.nargs, **options, **chosen.all_kwargs()})
        returned = tuner.fn.run(*given, **options, **chosen.all_kwargs())
        tuner.nargs = None
        return returned

    Autotuner.run = run
