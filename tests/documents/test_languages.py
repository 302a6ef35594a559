"""The language of a document, as its text tells it."""

import subprocess
import sys

import pytest

from documents.text.languages import detect_language
from tests.support.environment import PROJECT

GERMAN = "Die alte Stadt liegt an einem Fluss, und viele Menschen kommen jedes Jahr hierher. "
ENGLISH = "The old town lies on a river, and many people come here every year to see it. "
TEXTS = [
    ("de", GERMAN * 3),
    ("en", ENGLISH * 3),
    ("fr", "La vieille ville se trouve au bord d'un fleuve et beaucoup de gens y viennent chaque année."),
    ("es", "La ciudad antigua está junto a un río y mucha gente viene aquí todos los años para verla."),
    ("pt", "A cidade velha fica junto a um rio e muitas pessoas vêm aqui todos os anos para a conhecer."),
    ("nl", "De oude stad ligt aan een rivier en veel mensen komen hier elk jaar naartoe om haar te zien."),
    ("pl", "Stare miasto leży nad rzeką i wielu ludzi przyjeżdża tu każdego roku, aby je zobaczyć."),
    ("tr", "Eski şehir bir nehrin kıyısındadır ve her yıl birçok insan onu görmek için buraya gelir."),
    ("ru", "Старый город стоит на берегу реки, и каждый год сюда приезжает много людей, чтобы его увидеть."),
    ("uk", "Старе місто стоїть на березі річки, і щороку сюди приїжджає багато людей, щоб його побачити."),
    ("ar", "تقع المدينة القديمة على ضفة النهر ويأتي إليها كثير من الناس كل عام لمشاهدتها."),
    ("fa", "شهر قدیمی در کنار رودخانه قرار دارد و هر سال مردم زیادی برای دیدن آن به اینجا می‌آیند."),
    ("hi", "पुराना शहर एक नदी के किनारे है और हर साल बहुत से लोग इसे देखने के लिए यहाँ आते हैं।"),
    ("he", "העיר העתיקה נמצאת על גדת הנהר"),
    ("el", "Η παλιά πόλη βρίσκεται δίπλα σε ένα ποτάμι"),
    ("th", "เมืองเก่าตั้งอยู่ริมแม่น้ำ"),
    ("ko", "오래된 도시는 강가에 있다"),
    ("ja", "古い町は川のそばにあり、毎年多くの人が訪れる。"),
    ("zh", "古城坐落在河边,每年都有许多人前来参观。"),
]


@pytest.mark.parametrize(("language", "text"), TEXTS, ids=[code for code, _ in TEXTS])
def test_a_few_words_tell_the_language(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "?!", "3.14 2.71 1.41", "Nikola Tesla", "x = y[0] * 7"])
def test_what_does_not_tell_is_unknown(text: str) -> None:
    assert detect_language(text) == ""


def test_the_language_of_most_of_the_text_counts() -> None:
    assert detect_language(GERMAN * 20 + ENGLISH * 60) == "en"
    assert detect_language(ENGLISH * 20 + GERMAN * 60) == "de"
    assert detect_language("1.50 2.75 | 13 % \n" * 500 + GERMAN * 60) == "de"


def test_a_long_text_costs_no_more_than_a_short_one() -> None:
    assert detect_language(GERMAN * 100_000) == "de"


def test_tables_between_clear_text_do_not_load_the_model() -> None:
    """It takes a worker 75 MB and a second of CPU."""
    program = (
        "import sys; from documents.text.languages import detect_language\n"
        "table = 'Revenue Segment Americas Flexibles Rigid Packaging Total 13 14 15\\n' * 30\n"
        f"print(detect_language({ENGLISH!r} * 60 + table + {ENGLISH!r} * 60), 'py3langid' in sys.modules)\n"
        "print(detect_language(table), 'py3langid' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    clear, unclear = done.stdout.splitlines()
    assert clear == "en False"
    assert unclear.endswith(" True")  # so the table alone asks it
