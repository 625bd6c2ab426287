"""Decides what a worker sees of the machine."""

from __future__ import annotations

import os
from pathlib import Path

_LIBRARIES = "LD_LIBRARY_PATH"  # without which the Python of a cluster's module does not start
AMONG_OTHERS = "PORTER_AMONG_OTHERS"  # set where what workers run is of several people, who are kept from each other


def environment_of(work: Path) -> dict[str, str]:
    """The variables of a process whose own folder is `work`. Threads and hashes would make runs differ."""
    folder = str(work)
    return {
        **{"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": folder, "TMPDIR": folder},
        **{"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        **{name: os.environ[name] for name in (_LIBRARIES, AMONG_OTHERS) if name in os.environ},
    }
