"""What joining makes of tensors without storage is what PyTorch makes of those with one."""

import pytest
import torch

from porter_triton.planning.operators import joined


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize(
    "dtypes", [(torch.float32, torch.float32), (torch.int32, torch.float16), (torch.bfloat16, torch.float16)]
)
@pytest.mark.parametrize("lengths", [(3, 4), (0, 5), (2,)])
def test_joined_tensors_have_the_shape_and_type_that_pytorch_gives_them(dim, dtypes, lengths):
    shapes = [(n, 7) if dim == 0 else (7, n) for n in lengths]
    parts = [torch.zeros(shape, dtype=dtype) for shape, dtype in zip(shapes, dtypes, strict=False)]
    told, made = joined([part.to("meta") for part in parts], dim), torch.cat(parts, dim)
    assert (told.shape, told.dtype, told.stride()) == (made.shape, made.dtype, made.stride())


def test_what_has_no_elements_and_one_axis_is_left_out_but_for_its_type():
    parts = [torch.zeros(0, dtype=torch.float64), torch.zeros(2, 3)]
    told, made = joined([part.to("meta") for part in parts], 0), torch.cat(parts)
    assert (told.shape, told.dtype) == (made.shape, made.dtype)
