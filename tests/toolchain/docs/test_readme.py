"""The output shown in the README is the output."""

import re
import shlex
from pathlib import Path

from porter.cli.main import main

ROOT = Path(__file__).parents[3]
SAMPLE = re.compile(r"<!-- sample: porter (.*?) -->\n```\n(.*?)```\n<!-- /sample -->", re.DOTALL)


def test_the_sample_output_is_current(golden, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text()
    sample = SAMPLE.search(readme)
    assert sample is not None
    assert main(shlex.split(sample[1])) == 0
    shown = "".join(f"{line}\n" for line in capsys.readouterr().out.rstrip().splitlines())
    golden(ROOT / "README.md", readme[: sample.start(2)] + shown + readme[sample.end(2) :])
