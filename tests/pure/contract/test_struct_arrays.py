"""Arrays of structs of several types: each field is filled, followed and compared as a tensor of its own."""

from pathlib import Path

import numpy as np
import pytest

from porter.contract.analysis.body import Body
from porter.contract.analysis.struct_arrays import apart
from porter.contract.model.contract import Contract, Field, Role, TensorArg, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.model.toml import dumps, loads
from porter.contract.workload.materialise import materialise
from porter.contract.workload.structs import all_parts, changed, parts_of
from porter.errors import ContractError
from porter.execution.job import TensorValue
from tests.pure.contract.draft_sources import drafted

EDGES = """
enum Kind { PLAIN, DASHED, DOTTED };
struct Edge { unsigned char flag; int source; double weight; Kind kind; float2 at[2]; };
__device__ float length(const Edge* edge) { return edge->weight; }
__global__ void relax(const Edge* edges, const float* nodes, float* out, int count, int nodes_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Edge& edge = edges[i];
    int source = edge.source;
    if (source < nodes_count) out[i] = nodes[source] + length(&edges[i]) + edge.at[1].x + edge.kind + edge.flag;
}
"""


@pytest.fixture
def edges() -> Contract:
    (contract,) = drafted(EDGES + "void run(const Edge* e, const float* x, float* y, int n, int m) "
                          "{ relax<<<(n + 63) / 64, 64>>>(e, x, y, n, m); }")  # fmt: skip
    return contract


def test_fields_lie_where_c_puts_them(edges):
    tensor = edges.tensors[0]
    assert (tensor.dtype, tensor.group, tensor.role) == (DType.UINT8, 40, Role.IN)
    assert [(f.name, f.dtype, f.at) for f in tensor.fields] == [
        ("flag", DType.UINT8, 0), ("source", DType.INT32, 4), ("weight", DType.FLOAT64, 8), ("kind", DType.INT32, 16),
        ("at[0].x", DType.FLOAT32, 24), ("at[0].y", DType.FLOAT32, 28), ("at[1].x", DType.FLOAT32, 32),
        ("at[1].y", DType.FLOAT32, 36),
    ]  # fmt: skip


def test_what_kernels_do_with_a_field_is_known_of_that_field_alone(edges):
    fields = {field.name: field for field in edges.tensors[0].fields}
    assert (fields["source"].values, fields["source"].bound) == (Values.INDEX, "m")
    assert (fields["kind"].values, fields["kind"].bound) == (Values.INDEX, "3")
    assert fields["weight"].values is fields["flag"].values is Values.NORMAL


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{ y = p[i].n; }", "{ y = p_n [ i ] ; }"),
        ("{ y = p->n + p[q[j].n].v.x; }", "{ y = p_n [ 0 ] + p_v_x [ q [ j ] . n ] ; }"),
        ("{ S s = p[i + 1]; y = s.n; }", "{ S s = p [ i + 1 ] ; y = p_n [ i + 1 ] ; }"),
        ("{ S* s = p + k; s->n = 2; }", "{ S * s = p + k ; p_n [ k ] = 2 ; }"),
        ("{ S s = p[i]; s = r[i]; y = s.n; }", "{ S s = p [ i ] ; s = r [ i ] ; y = s . n ; }"),
        ("{ y = o.p[i].n; }", "{ y = o . p [ i ] . n ; }"),
        ("{ y = p[i].unknown; }", "{ y = p [ i ] . unknown ; }"),
    ],
)
def test_fields_become_arrays(written, read):
    assert apart(Body(written), {"p": {".n": "p_n", ".v.x": "p_v_x"}}).text == read


STRUCTS = TensorArg(
    "s", Role.INOUT, DType.UINT8, ("16 * n",), group=16,
    fields=(Field("id", DType.INT32, 0, Values.INDEX, "n"), Field("mass", DType.FLOAT64, 8)),
)  # fmt: skip


@pytest.fixture
def structs(scale_contract) -> Contract:
    contract = scale_contract
    kept = tuple(a for a in contract.arguments if not isinstance(a, TensorArg))
    return Contract(
        contract.name, contract.category, contract.entry, (STRUCTS, *kept), contract.symbols, (), contract.workloads,
        contract.tolerance,
    )  # fmt: skip


def test_each_field_is_drawn_as_a_tensor_of_its_own(structs):
    value = materialise(structs, Workload("w", {"n": 5}, 3))[0]
    assert isinstance(value, TensorValue)
    id_, mass = parts_of(STRUCTS, value)
    assert (value.shape, id_.shape, mass.dtype) == ((80,), (5,), DType.FLOAT64)
    assert set(id_.storage) <= set(range(5))
    assert np.abs(mass.storage).max() <= 6
    assert [part.shape for part in STRUCTS.parts] == [("n",), ("n",)]


def test_bytes_between_fields_are_neither_compared_nor_changed(structs):
    value = materialise(structs, Workload("w", {"n": 5}, 3))[0]
    assert isinstance(value, TensorValue)
    noisy = TensorValue(value.dtype, value.shape, value.storage.copy())
    noisy.storage.reshape(5, 16)[:, 4:8] = 77  # type: ignore[index]
    pairs = zip(all_parts(structs, [noisy]), all_parts(structs, [value]), strict=True)
    assert all(np.array_equal(a.storage, b.storage) for a, b in pairs)
    halved = changed(STRUCTS, noisy, lambda _, v: TensorValue(v.dtype, v.shape, v.storage // 2))
    assert (halved.storage.reshape(5, 16)[:, 4:8] == 77).all()
    assert np.array_equal(parts_of(STRUCTS, halved)[0].storage, parts_of(STRUCTS, value)[0].storage // 2)


def test_fields_are_written_and_read_back(structs):
    assert loads(dumps((structs,)), Path("op.contract.toml")) == (structs,)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("at = 8", "at = 3", "cannot have the field"),
        ("at = 8", "at = 9", "cannot have the field"),
        ('name = "mass"', 'name = "id"', "cannot have the field"),
        (', bound = "n"', "", "need a bound"),
        ('dtype = "uint8"', 'dtype = "int8"', "not counted in bytes"),
        ("at = 8", "byte = 8", "unknown field of a field"),
    ],
)
def test_fields_that_do_not_fit_are_told(structs, old, new, says):
    written = dumps((structs,))
    assert old in written
    with pytest.raises(ContractError, match=says):
        loads(written.replace(old, new, 1), Path("op.contract.toml"))
