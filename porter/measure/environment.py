"""Records where a time was measured: without that it cannot be compared with any other time."""

from __future__ import annotations

from dataclasses import dataclass

# Bits of NVML's clock event reasons that slow kernels down while one measures.
_SLOWING = {0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal slowdown", 0x40: "hardware thermal slowdown",
            0x80: "power brake"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeviceState:
    """The device at one moment. Clocks in MHz, power in watts, temperature in degrees Celsius.

    `slowed_by` names what holds its clocks down; `others` counts other processes that compute on it.
    """

    sm_clock_mhz: int
    memory_clock_mhz: int
    power_w: float
    temperature_c: int
    slowed_by: tuple[str, ...]
    others: int


@dataclass(frozen=True, slots=True)
class Environment:
    """A device and everything whose version may change a time.

    `before` and `after` are its state around the measurement.
    """

    device: str
    uuid: str
    driver: str
    cuda: str
    multiprocessors: int
    l2_bytes: int
    max_sm_clock_mhz: int
    torch: str
    triton: str
    nvcc: str
    porter: str
    commit: str
    before: DeviceState
    after: DeviceState

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Returns what of the device's state makes its times doubtful."""
        seen = [f"another process computes on the device ({s.others})" for s in self._states if s.others]
        slowed = [f"clocks are held down: {reason}" for s in self._states for reason in s.slowed_by]
        return tuple(dict.fromkeys((*seen, *slowed)))

    @property
    def _states(self) -> tuple[DeviceState, DeviceState]:
        return self.before, self.after


def slowed_by(event_reasons: int) -> tuple[str, ...]:
    """Returns the reasons for low clocks, by NVML's bits; that nothing runs is not named."""
    return tuple(name for bit, name in _SLOWING.items() if event_reasons & bit)
