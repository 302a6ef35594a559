"""Markers are looked for only where one may begin: nothing is missed so."""

import random

from rag.checking.markers import FORMS, forms_in

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
