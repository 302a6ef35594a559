"""What the judge says in several languages, case by case: supported or not."""

import pytest

from rag.citations.judge import judged

GERMAN = (
    "Der Eiffelturm ist ein Wahrzeichen von Paris. Er ist 330 Meter hoch und wurde 1889 von "
    "Gustave Eiffel gebaut. Die Kosten betrugen 7,8 Millionen Franken. Er wurde nicht "
    "abgerissen."
)
CHINESE = "苏格兰议会由129名议员组成，成立于1999年。议会大楼位于爱丁堡。它不具有外交权力。"
JAPANESE = "東京タワーは1958年に完成した高さ333メートルの塔です。現在は放送に使われていません。"
FRENCH = (
    "La tour Eiffel mesure 330 mètres. Elle n'a pas été détruite en 1909. Gustave Eiffel l'a "
    "construite entre 1887 et 1889."
)
ENGLISH = (
    "Nikola Tesla was a Serbian-American inventor. He was born in Smiljan in 1856. Thomas "
    "Edison hired him in 1884. The company paid Tesla $18 per week. Unlike Edison, Tesla never "
    "married. The motor weighed about 12 kg; the coil weighed 5 kg. Revenue rose 12 % to €2.5 "
    "million in 2019, while costs fell 3 %. The Great Theatre opened in 1833. It seats 1,841 "
    "people."
)
LANGUAGES = {GERMAN: "de", CHINESE: "zh", JAPANESE: "ja", FRENCH: "fr", ENGLISH: "en"}
SUPPORTED = [
    (GERMAN, "Der Eiffelturm ist 330 Meter hoch."),
    (GERMAN, "Er wurde 1889 von Gustave Eiffel erbaut."),
    (GERMAN, "Die Kosten betrugen 7.800.000 Franken."),
    (GERMAN, "1889 wurde er von Gustave Eiffel gebaut."),
    (CHINESE, "苏格兰议会有129名议员。"),
    (CHINESE, "苏格兰议会成立于1999年"),
    (CHINESE, "1999年"),
    (CHINESE, "爱丁堡"),
    (CHINESE, "它不具有外交权力"),
    (JAPANESE, "東京タワーの高さは333メートルです。"),
    (FRENCH, "La tour Eiffel mesure 330 mètres de haut."),
    (FRENCH, "Elle n'a pas été détruite."),
    (ENGLISH, "Nikola Tesla was born in Smiljan."),
    (ENGLISH, "Tesla was born in 1856."),
    (ENGLISH, "Edison hired Tesla in 1884."),
    (ENGLISH, "The company paid Tesla 18 dollars per week."),
    (ENGLISH, "Tesla never married."),
    (ENGLISH, "The motor weighed 12 kg."),
    (ENGLISH, "The motor weighed about twelve kilograms."),
    (ENGLISH, "Revenue rose 12% to 2,500,000 euros in 2019."),
    (ENGLISH, "Costs fell 3 percent."),
    (ENGLISH, "In 2019, revenue rose 12 percent."),
    (ENGLISH, "The Great Theatre seats 1841 people."),
    (ENGLISH, "The Great Theatre opened in 1833 and seats 1,841 people."),
    (ENGLISH, "Yes, Tesla was born in Smiljan in 1856."),
    (ENGLISH, "Smiljan"),
    (ENGLISH, "1856"),
    (ENGLISH, "18"),
    (ENGLISH, 'Tesla was "born in Smiljan".'),
    (ENGLISH, "Tesla wurde 1856 in Smiljan geboren."),
    (ENGLISH, "特斯拉生于1856年。"),
    (ENGLISH, "Tesla est né à Smiljan en 1856."),
    (ENGLISH, "According to the text, Tesla was born in 1856 in Smiljan."),
    (ENGLISH, "Thomas Edison hired Nikola Tesla in 1884."),
    (ENGLISH, "Tesla was hired by Thomas Edison in 1884."),
    (ENGLISH, "**Tesla** was born in *Smiljan*."),
    (ENGLISH, "It seats 1,841 people."),
    (ENGLISH, "He was born in Smiljan in 1856"),
]
UNSUPPORTED = [
    (GERMAN, "Der Turm wurde nicht abgerissen."),
    (GERMAN, "Der Eiffelturm wurde abgerissen."),
    (GERMAN, "Er ist 331 Meter hoch."),
    (CHINESE, "苏格兰议会由128名议员组成。"),
    (CHINESE, "议会大楼位于格拉斯哥。"),
    (CHINESE, "它具有外交权力。"),
    (JAPANESE, "東京タワーは1959年に完成した。"),
    (JAPANESE, "現在は放送に使われています。"),
    (JAPANESE, "大阪タワーは1958年に完成した。"),
    (FRENCH, "La tour Eiffel a été détruite en 1909."),
    (FRENCH, "Gustave Eiffel l'a construite entre 1889 et 1887."),
    (FRENCH, "La tour Eiffel mesure 303 mètres."),
    (ENGLISH, "Edison was born in Smiljan."),
    (ENGLISH, "Tesla hired Edison in 1884."),
    (ENGLISH, "The company paid Edison $18 per week."),
    (ENGLISH, "The company paid Tesla €18 per week."),
    (ENGLISH, "Tesla married."),
    (ENGLISH, "Edison never married."),
    (ENGLISH, "The motor weighed 5 kg."),
    (ENGLISH, "The coil weighed 12 kg."),
    (ENGLISH, "Revenue rose 3 %."),
    (ENGLISH, "Costs rose 12 %."),
    (ENGLISH, "Costs fell 3 percentage points."),
    (ENGLISH, "The Summer Theatre seats 1,841 people."),
    (ENGLISH, "No."),
    (ENGLISH, "1857"),
    (ENGLISH, "-18"),
    (ENGLISH, 'Tesla said "I was born in Smiljan".'),
    (ENGLISH, "Tesla wurde 1857 in Smiljan geboren."),
    (ENGLISH, "Tesla wurde 1856 in London geboren."),
    (ENGLISH, "特斯拉生于1857年。"),
    (ENGLISH, "特斯拉是发明家。"),
    (ENGLISH, "Der Turm ist hoch."),
    (ENGLISH, "Thomas Edison was hired by Tesla in 1884."),
]


@pytest.mark.parametrize(("content", "claim"), SUPPORTED)
def test_supported(content: str, claim: str) -> None:
    verdict = judged(claim, content, LANGUAGES[content])
    assert verdict.support
    assert content[verdict.start : verdict.end].strip()


@pytest.mark.parametrize(("content", "claim"), UNSUPPORTED)
def test_unsupported(content: str, claim: str) -> None:
    assert judged(claim, content, LANGUAGES[content]).support is None
