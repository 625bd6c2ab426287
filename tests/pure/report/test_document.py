"""porter's values as JSON."""

import json
import math
from pathlib import Path

import pytest

from porter.writing.document import as_json, encode_json


def test_a_record_is_an_object_of_its_fields_and_a_source_its_path(migration):
    document = json.loads(encode_json(as_json(migration.program)))
    assert document["source"] == "ops/sum.cu"
    assert document["form"] == "pointer launcher"
    assert json.loads(encode_json(as_json(migration.contracts[0])))["tolerance"] == {
        "float32": {"rtol": 1e-5, "atol": 1e-6}
    }


def test_what_json_lacks_becomes_null_and_text_is_not_escaped():
    assert as_json((math.nan, -math.inf, 0.5, Path("a"))) == [None, None, 0.5, "a"]
    assert encode_json("µs") == '"µs"\n'


def test_what_has_no_json_is_an_error():
    with pytest.raises(TypeError, match="object"):
        as_json(object())
