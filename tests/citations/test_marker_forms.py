"""Markers are looked for only where one may begin: nothing is missed so, in whatever form."""

import random

import pytest

from rag.citations.markers import FORMS, forms_in
from tests.citations.replies import checked, context, streamed

PIECES = [
    *"[]()【】［］{}<>^*123.,;:¹² \n\t\u00a0\u200b",
    *(
        "[1]",
        " [2]",
        "     [3]",
        "**[1]**",
        " (1)",
        "<sup>1</sup>",
        "[1](http://a)",
        " ¹",
        "Word¹",
        "(see [1])",
    ),
    *(
        "Source 1",
        " from the SOURCE 1.",
        ", according to chunk 2",
        "source",
        "(Quelle 3)",
        "来源1",
        "Doc no. 4",
    ),
    *("cıtatıon 1", "cİtation 2", "ſource 1.", "\u212a", "and", " the tower has 120 steps", "ref 1 [2]"),
]


def test_every_form_of_a_marker_is_found_where_it_stands():
    rng = random.Random(11)
    for _ in range(3000):
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        found = [(one.span(), one.groupdict()) for one in forms_in(text)]
        assert found == [(one.span(), one.groupdict()) for one in FORMS.finditer(text)], text


@pytest.mark.parametrize(
    "marker",
    [
        *(
            "\\[1\\]",
            "⟦1⟧",
            "〚1〛",
            "[^1]",
            "[[1]]",
            "[1](#)",
            "<sup>1</sup>",
            "<cite>1</cite>",
            "<ref>1</ref>",
        ),
        *(
            "(Source: 1)",
            "(see [1])",
            "[Doc 1, p. 4]",
            "[Doc. 1 p.4]",
            "[1 (p. 4)]",
            "[1: The towers]",
        ),
        *("[cite: 1]", "[²]".replace("²", "¹"), "\\cite{1}", "$^{1}$", "^1^", "⁽¹⁾"),
    ],
)
async def test_a_marker_is_read_for_what_it_means_whole_and_in_pieces(marker: str) -> None:
    reply = (
        f"The north tower has 120 steps{'' if marker == '⁽¹⁾' else ' '}{marker}. Its lamp burns whale oil."
    )

    whole = (await checked(reply)).text
    shown, end = await streamed(reply, range(1, len(reply)))

    assert whole.replace(" [", "[") == "The north tower has 120 steps[1]. Its lamp burns whale oil."
    assert "".join(shown) + end.rest == whole


@pytest.mark.parametrize("markers", ["[1–3]", "[1, 2, 3]", "[1; 2; 3]", "[1][2][3]", "(Sources 1, 2 and 3)"])
async def test_markers_of_several_sources_are_written_one_by_one(markers: str) -> None:
    reply = f"The north tower has 120 steps {markers}."
    assert (await checked(reply)).text == "The north tower has 120 steps [1][2][3]."


async def test_a_footnote_behind_the_full_stop_and_its_definition_are_one_marker() -> None:
    assert (await checked("The north tower has 120 steps.¹")).text == "The north tower has 120 steps. [1]"
    reply = "The north tower has 120 steps.[^1]\n\n[^1]: Chunk 1"
    assert (await checked(reply)).text == "The north tower has 120 steps. [1]"


async def test_an_index_of_the_passage_is_no_marker() -> None:
    given = context("The matrix M[2,3] is zero.", "A tower.", "A mill.")
    assert (await checked("The matrix M[2,3] is zero [1].", given)).text == "The matrix M(2,3) is zero [1]."


async def test_a_range_from_0_of_the_passage_is_no_marker() -> None:
    given = context("The probability lies in [0, 1] for any event.")
    reply = "The probability lies in [0, 1] for any event [1]."
    assert (await checked(reply, given)).text == reply
