"""PyTorch modules are lifted from what torch.export makes of them, written anew, and held to themselves."""

import pytest

from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Refused, Verified
from porter.evaluate.module_port import migrate_module

FORM = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        {forward}

def get_inputs():
    return [torch.randn(512, 4096)]

def get_init_inputs():
    return [4096]
"""
MEAN = "return (x * self.scale).mean(dim=1)"


@pytest.fixture(scope="module")
def ported(build_cache, tmp_path_factory):
    """`ported(forward)`: a module with that body, brought to Triton."""
    path = tmp_path_factory.mktemp("modules") / "scaled_mean.py"

    def migrate(forward, **options):
        path.write_text(FORM.format(forward=forward))
        return migrate_module(path, MigrateOptions("triton", build_cache, **options), lambda _: None)

    return migrate


def test_a_module_is_ported_at_sizes_that_are_drawn_and_says_which(ported):
    found = ported(MEAN)
    assert isinstance(found.outcome, Verified), found.outcome
    assert [file.name for file in found.files] == ["scaled_mean_triton.py"]
    assert "def forward(x, scale):" in found.files[0].text
    (told,) = [finding.message for finding in found.findings if finding.code == "PORT5007"]
    assert told.startswith("executed in float32 at x_size0 = ")
    assert {"x_size0", "x_size1"} <= {name for workload in found.contracts[0].workloads for name in workload.sizes}


def test_an_operator_without_a_word_is_refused_at_its_line(ported):
    found = ported("return torch.sort(x * self.scale, dim=1)[0]")
    assert isinstance(found.outcome, Refused)
    assert "line 11: aten.sort.default (`return torch.sort(x * self.scale, dim=1)[0]`)" in found.outcome.because
    assert not found.files
    assert [finding.code for finding in found.findings] == ["PORT5006"]


def test_code_that_data_decide_is_refused_at_its_line(ported):
    with pytest.raises(InputError, match="line 11: DataDependentOutputException"):
        ported("return x if x.sum() > 0 else x * self.scale")


def test_options_for_cuda_are_refused(ported):
    with pytest.raises(InputError, match="no kernels"):
        ported(MEAN, kernels=("k",))
