"""Words are analysed as the language of their document has them."""

import pytest

from documents.text.stop_words import list_languages
from embeddings.lexical.languages import SNOWBALL
from embeddings.lexical.terms import lexemes, question_lexemes

MEETING = [
    ("de", "Die Häuser der alten Straße", "haus strasse"),
    ("de", "Bücher an den Universitäten", "buch universität"),
    ("fr", "l'économie des régions françaises", "ECONOMIE region francaise"),
    ("es", "las informaciones de España", "informacion españa"),
    ("pt", "as informações da América", "informação america"),
    ("it", "l’università delle città", "universita citta"),
    ("tr", "İstanbul'daki kitapların ışığı", "istanbul kitap"),
    ("ru", "книги о русских городах", "книга русский город"),
    ("uk", "українські книги", "українська книга"),
    ("pl", "książki o Łodzi", "ksiazka"),
    ("el", "τα βιβλία της Ελλάδας", "βιβλια ελλαδα"),
    ("hi", "हिन्दी में किताबें", "हिन्दी किताब"),
    ("ar", "الكُتُب في المدارس", "كتب مدارس"),
    ("fa", "می‌خواهم كتاب", "کتاب"),
    ("he", "בַּיִת גדול", "בית"),
    ("th", "ประเทศไทยมีภูเขา", "ภูเขา"),
    ("ko", "한국의 도서관", "도서관"),
    ("ja", "東京タワーの高さ", "タワー 高さ"),
    ("zh", "苏格兰议会的历史", "议会 历史"),
    ("nb", "husene på fjellet", "hus fjell"),
    ("vi", "các thành phố lớn", "thành phố"),
]


@pytest.mark.parametrize(("language", "text", "question"), MEETING)
def test_a_question_meets_a_document_of_its_language(language: str, text: str, question: str) -> None:
    assert set(lexemes(question, language)) <= set(lexemes(text, language))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "der die das und nicht"),
        ("fr", "le de l' où qu'il était"),
        ("es", "¿qué es el mas él?"),
        ("ru", "что это и как"),
        ("zh", "是什么"),
        ("tr", "İÇİN ne"),
    ],
)
def test_stop_words_are_left_out_as_written_and_as_typed(language: str, text: str) -> None:
    assert lexemes(text, language) == []


def test_letters_that_make_another_word_stay_where_people_type_them() -> None:
    assert lexemes("för", "sv") != lexemes("for", "sv")
    assert lexemes("kör", "hu") != lexemes("kor", "hu")


def test_english_and_unknown_are_the_same_and_any_code_is_taken() -> None:
    text = "The castles of 東京, foo_bar@example.org and E-2021/45: 3.5 %"
    assert lexemes(text) == lexemes(text, "en") == lexemes(text, "")
    assert lexemes("words of it", "xx") == ["words", "of", "it"]


def test_identifiers_and_numbers_are_found_by_their_parts_in_every_language() -> None:
    for language in ("", "de", "ru", "zh", "th"):
        assert set(lexemes("E-2021/45", language)) <= set(lexemes("Nr. E-2021/45: foo_bar 3,5", language))


def test_no_word_is_longer_than_an_index_takes() -> None:
    assert all(len(word) <= 128 for word in lexemes("ก" + "่" * 5000 + "ข" + "œ" * 3000, "fr"))


def test_every_language_with_a_stemmer_or_stop_words_can_be_analysed() -> None:
    for language in {*SNOWBALL, *list_languages()}:
        assert lexemes("Kenya 2021 κόσμος мир 世界", language)


def test_a_question_has_words_for_each_language_of_the_documents() -> None:
    words = question_lexemes("Wo stehen die alten Häuser von Warschau?", ["", "de", "fr"])
    assert words["de"] == ("steh", "alt", "haus", "warschau")
    assert "warschau" in words[""]
    assert not {"die", "wo", "von"} & set(words[""] + words["fr"])


def test_only_a_question_that_seems_to_be_in_a_language_loses_its_stop_words() -> None:
    assert "die" in question_lexemes("How do stars die?", ["en"])["en"]
    assert question_lexemes("Die Hard", ["en"])["en"] == ("die", "hard")
    assert question_lexemes("Who was Tesla?", ["de"])["de"] == ("tesla",)
    assert question_lexemes("Was ist das?", ["en"])["en"]  # nothing else to look for
    assert question_lexemes("Who?", []) == {}
