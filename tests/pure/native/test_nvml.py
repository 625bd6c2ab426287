"""Workers of porter that have opened a device are told from all other processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.native.nvml import workers_on_devices

_WORKER = ("python", "-m", "porter.worker.nurse", "porter.native.worker", "5")


def _process(folder: Path, number: int, command: tuple[str, ...], *files: str) -> None:
    own = folder / str(number) / "fd"
    own.mkdir(parents=True)
    (own.parent / "cmdline").write_bytes(b"\0".join(word.encode() for word in command) + b"\0")
    for descriptor, file in enumerate(files):
        (own / str(descriptor)).symlink_to(file)


@pytest.mark.parametrize(
    ("command", "files", "count"),
    [
        (_WORKER, ("/dev/null", "/dev/nvidia0", "/dev/nvidiactl"), 1),
        (_WORKER, ("/dev/null", "socket:[1]"), 0),
        (("python", "train.py"), ("/dev/nvidia0",), 0),
    ],
    ids=["worker on a device", "worker without one", "another program"],
)
def test_a_worker_counts_once_it_has_opened_a_device(tmp_path, command, files, count):
    _process(tmp_path, 40, command, *files)
    assert workers_on_devices(tmp_path) == count


def test_all_workers_count_and_what_is_no_process_does_not(tmp_path):
    for number in (7, 8, 9):
        _process(tmp_path, number, _WORKER, "/dev/nvidia0")
    (tmp_path / "self").mkdir()
    (tmp_path / "10").mkdir()  # it ended just now
    assert workers_on_devices(tmp_path) == 3
