"""Documents in several languages in one collection: each is found by a question in its own."""

from itertools import product

import httpx

from tests.platform.talk import ingested, text

TEXTS = {
    "de": "Die Häuser der alten Stadt stehen an einem Fluss, und viele Menschen besuchen sie jährlich.",
    "en": "The houses of the old town stand on a wide river, and many people visit them every year.",
    "ru": "Дома старого города стоят на берегу широкой реки, и каждый год их посещает много людей.",
    "zh": "老城的房子坐落在宽阔的河边,每年都有许多人前来参观这座城市。",
}
QUESTIONS = {
    "de": "Wo steht das Haus der Stadt?",
    "en": "Where does the house stand?",
    "ru": "Где стоит дом у реки?",
    "zh": "房子在哪里?",
}


def test_a_question_finds_the_document_in_its_language(client: httpx.Client):
    job = ingested(client, *(text(content, f"{code}.txt") for code, content in TEXTS.items()))
    documents = dict(zip(TEXTS, (document["id"] for document in job["documents"]), strict=True))
    for code, mode in product(QUESTIONS, ("sparse", "hybrid")):
        assert client.get(f"/v1/documents/{documents[code]}").json()["language"] == code
        body = {"query": QUESTIONS[code], "settings": {"mode": mode}}
        found = client.post("/v1/search", json=body).json()["results"]
        assert found, (code, mode)
        assert found[0]["document_id"] == documents[code], (code, mode)
