"""Autotuners while calls are planned: which configuration each chooses, and what it does before.

There is nothing to measure, so porter says which configuration is the fastest. All else is as Triton has it: what was
chosen for a key stays, and the first call of a key launches for the sake of measuring, which resets only what the
autotuner was told to reset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from triton.runtime import autotuner
from triton.runtime.autotuner import Autotuner, Config

from porter_triton.planning.recorder import Recorder

_Key = tuple[int, tuple[object, ...]]


class Tuning:
    """The autotuners of a module."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._numbers: dict[int, int] = {}  # of autotuners, in the order in which they are used
        self._kept: list[Autotuner] = []  # kept alive, so that no other object gets their identity
        self._pruned: dict[_Key, Sequence[Config]] = {}

    def run(self, tuner: Autotuner, args: tuple[object, ...], named: dict[str, object]) -> object:
        """Returns a launch of `tuner`, with the configuration that is the fastest now."""
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        if len(tuner.configs) > 1:
            key = self._key(tuner, named)
            is_new = key not in self._pruned
            if is_new:
                self._pruned[key] = tuner.prune_configs(named)
            chosen = self._chosen(tuner, self._pruned[key])
            if is_new:
                self._measure(tuner, self._pruned[key], chosen, args, named)
        else:
            chosen = tuner.configs[0]
        tuner.best_config = chosen
        if chosen.pre_hook is not None:
            chosen.pre_hook({**tuner.nargs, **named, **chosen.all_kwargs()})
        returned = tuner.fn.run(*args, **named, **chosen.all_kwargs())
        tuner.nargs = None
        return returned

    def _key(self, tuner: Autotuner, named: dict[str, object]) -> _Key:
        """Returns what Triton keeps a choice by."""
        self._number(tuner)
        given = {name: v for name, v in {**tuner.nargs, **named}.items() if name in tuner.arg_names}
        key = [given[name] for name in tuner.keys if name in given]
        key += [str(value.dtype) for value in given.values() if hasattr(value, "dtype")]
        return id(tuner), tuple(key)

    def _number(self, tuner: Autotuner) -> int:
        if id(tuner) not in self._numbers:
            self._kept.append(tuner)
        return self._numbers.setdefault(id(tuner), len(self._numbers))

    def _chosen(self, tuner: Autotuner, configs: Sequence[Config]) -> Config:
        """Returns all choose alike in the first turns; in further ones each another than those before it."""
        seen = self._recorder.tuners
        seen[id(tuner)] = max(len(configs), seen.get(id(tuner), 0))
        most = max(seen.values())
        self._recorder.configurations = max(self._recorder.configurations, most * min(2, len(seen)))
        turn = self._recorder.configuration
        return configs[(turn + self._number(tuner) * (turn // most)) % len(configs)]

    @staticmethod
    def _measure(
        tuner: Autotuner, configs: Sequence[Config], chosen: Config, args: tuple[object, ...], named: dict[str, object]
    ) -> None:
        """Launches as Triton does to measure: with a benchmark of the module's own each, else one for all of them."""
        own: Callable[..., Any] | None = tuner._do_bench
        if own is not None and own.__module__ == autotuner.__name__:
            own = None
        nargs = tuner.nargs

        def launch_with(config: Config) -> Callable[[], None]:
            def launch() -> None:
                given = {**nargs, **named, **config.all_kwargs()}
                if config.pre_hook is not None:
                    config.pre_hook(given)
                tuner.pre_hook(given)
                tuner.fn.run(*args, **named, **config.all_kwargs())
                tuner.post_hook(given, exception=None)

            return launch

        for config in configs if own is not None else [c for c in configs if c is not chosen][:1]:
            launch = launch_with(config)
            _ = own(launch, quantiles=(0.5, 0.2, 0.8)) if own is not None else launch()
        tuner.nargs = nargs
        tuner.pre_hook({**nargs, **named, **chosen.all_kwargs()}, reset_only=True)
