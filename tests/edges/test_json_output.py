"""JSON as it is sent: two writers that say the same."""

import enum
import json
from uuid import UUID

import numpy as np
import pytest

from knowlex.web.json_output import json_bytes, plain_json_bytes
from knowlex.web.sse import event


class Kind(enum.StrEnum):
    A = "a"


PLAIN = [
    {"id": UUID(int=7), "none": None, "yes": True, "no": False, "list": [], "tuple": (1, "two"), "empty": {}},
    {
        "text": 'a "quote" \\ / \b\f\n\r\t\x00\x1f\x7f\u2028 é – 漢 😀 </script>',
        "é": "NaN",
        "inf": "Infinity",
    },
    {"floats": [0.0, -0.0, 1.0, 0.1 + 0.2, 2 / 3, 0.0001, 123456.789, 1e16, 1.7976931348623157e308, 5e-324]},
    {"ints": [0, -1, 2**63, 10**30], 1: "keys", "numpy": np.float64(0.25), "kind": Kind.A},
]


@pytest.mark.parametrize("data", PLAIN)
def test_the_fast_writer_writes_what_the_other_does_to_the_letter(data):
    assert plain_json_bytes(data) == json_bytes(data)


def test_small_numbers_are_spelled_in_full_and_mean_the_same():
    small = [1e-5, 3.2e-05, 1.234567890123e-7, -9.9e-6]

    assert json.loads(plain_json_bytes(small)) == json.loads(json_bytes(small)) == small


@pytest.mark.parametrize("write", [json_bytes, plain_json_bytes])
def test_a_lone_surrogate_becomes_a_question_mark(write):
    assert write({"text": "a\ud800b"}) == b'{"text":"a?b"}'


@pytest.mark.parametrize("write", [json_bytes, plain_json_bytes])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_has_not_is_refused(write, number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write({"score": number})


@pytest.mark.parametrize("write", [json_bytes, plain_json_bytes])
def test_what_is_no_json_is_refused(write):
    with pytest.raises(TypeError):
        write({"what": object()})


def test_an_event_is_one_line_of_json():
    assert event("token", {"text": "one\ntwo"}) == b'event: token\ndata: {"text":"one\\ntwo"}\n\n'
