"""What of a device's state makes its times doubtful."""

from __future__ import annotations

from porter.measure.environment import DeviceState, Environment, slowed_by

IDLE = DeviceState(1980, 3201, 120.0, 35, (), 0)


def environment(before: DeviceState = IDLE, after: DeviceState = IDLE) -> Environment:
    versions = {"torch": "2.11", "triton": "3.6", "nvcc": "13.0", "porter": "0.2", "commit": "abc"}
    return Environment("H200", "GPU-1", "580", "13.0", 132, 60 << 20, 1980, **versions, before=before, after=after)


def test_a_quiet_device_disturbs_nothing():
    assert environment().disturbances == ()


def test_another_process_and_slow_clocks_are_named_once():
    hot = DeviceState(1200, 3201, 700.0, 88, ("thermal slowdown",), 2)
    assert environment(hot, hot).disturbances == (
        "another process computes on the device (2)",
        "clocks are held down: thermal slowdown",
    )


def test_idling_is_no_reason_and_heat_is():
    assert slowed_by(0x1) == ()
    assert slowed_by(0x2 | 0x20 | 0x4) == ("power cap", "thermal slowdown")
