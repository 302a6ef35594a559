"""The small words by which a follow-up question is told, by language (ISO 639-1). Plain Python."""

from dataclasses import dataclass
from functools import lru_cache

from documents.text.stop_words import stop_words


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """pronouns: stand for something said before. connectors: may begin a follow-up. asking: question words.

    auxiliaries: by which a question of its own is told. light: content words that name nothing. topics:
    beginnings after which only the new topic stands. stop: all words that name nothing. determiners: after
    which what is named stands.
    """

    pronouns: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()
    auxiliaries: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    topics: tuple[str, ...] = ()
    stop: frozenset[str] = frozenset()
    determiners: frozenset[str] = frozenset()


_PRONOUNS = {
    "en": "it its they them their theirs he him his she her hers this these those that there",
    "de": "er ihn ihm sie ihr ihre ihrem ihren ihrer ihres sein seine seinem seinen seiner seines es dessen"
    " deren davon dafür damit dazu darin daran darauf daraus dort diese dieser dieses diesem diesen",
    "fr": "il elle ils elles lui leur leurs son sa ses cela ça",
    "es": "él ella ellos ellas esto eso ello su sus allí ahí",
    "it": "lui lei loro esso essa essi esse suo sua suoi sue ciò",
    "pt": "ele ela eles elas dele dela deles delas seu sua seus suas isto isso nele nela",
    "nl": "hij hem haar hun ervan ermee erin dit deze",
    "ru": "он она оно они его её ее ему ей им их нём нем ней этот эта это эти там",
    "pl": "on ona ono oni jego jej ich jemu tam",
    "sv": "han hon honom henne hans hennes deras dess",
    "da": "han hun ham hende hans hendes deres dens",
    "no": "han hun ham henne hans hennes deres dens",
    "tr": "onu onun ona bunu bunun orada",
}
_CONNECTORS = {
    "en": "and but or so then also",
    "de": "und aber oder dann",
    "fr": "et mais ou alors",
    "es": "y pero o entonces",
    "it": "e ma o allora",
    "pt": "e mas ou então",
    "nl": "en maar of dan",
    "ru": "а и но",
    "pl": "a i ale",
    "sv": "och men",
    "da": "og men",
    "no": "og men",
    "tr": "peki ve ya",
}
_ASKING = {
    "en": "what which who whom whose when where why how",
    "de": "was welche welcher welches welchen wer wen wem wessen wann wo warum wieso weshalb wie wohin woher",
    "fr": "que quoi quel quelle quels quelles qui quand où pourquoi comment combien",
    "es": "qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas",
    "it": "che cosa quale quali chi quando dove perché come quanto quanta quanti quante",
    "pt": "que qual quais quem quando onde como quanto quanta quantos quantas",
    "nl": "wat welke wie wiens wanneer waar waarom hoe hoeveel",
    "ru": "что какой какая какие кто когда где почему как сколько",
    "pl": "co jaki jaka jakie kto kiedy gdzie dlaczego jak ile",
    "sv": "vad vilken vilka vem när var varför hur",
    "da": "hvad hvilken hvilke hvem hvornår hvor hvorfor hvordan",
    "no": "hva hvilken hvilke hvem når hvor hvorfor hvordan",
    "tr": "ne hangi kim nerede neden niçin nasıl kaç",
}
_AUXILIARIES = {
    "en": "is are was were be been am do does did has have had can could will would shall should may might"
    " must isn't aren't wasn't weren't don't doesn't didn't can't won't",
    "de": "ist sind war waren hat haben hatte hatten wird werden wurde wurden kann können konnte muss müssen"
    " soll sollte darf gibt gab",
    "fr": "est sont était étaient a ont avait fut furent peut peuvent doit faut fait",
    "es": "es son era eran fue fueron está están ha han hay puede pueden tiene tienen hace",
    "it": "è sono era erano fu furono ha hanno può possono deve",
    "pt": "é são era eram foi foram está estão tem têm há pode podem",
    "nl": "is zijn was waren heeft hebben had kan kunnen moet wordt worden werd werden",
}
_PREPOSITIONS = {
    "en": "in on at for from to with without by of under over before after during since until near between",
    "de": "in im am an auf für von vom zu zum zur mit ohne bei beim nach vor seit bis über unter",
    "fr": "à au aux en dans pour de du des avec sans chez avant après depuis sous sur",
    "es": "en de del para por con sin a al antes desde hasta sobre",
    "it": "in di a da per con senza su nel nella nei nelle del della dei delle",
    "pt": "em no na nos nas de do da dos das para por com sem",
    "nl": "in op aan voor van met zonder bij na",
}
_LIGHT = {
    "en": "tell explain more detail details example examples else please give show elaborate continue go mean"
    " another others sure really exactly many much long far often old tall big get say said",
    "de": "erkläre erklären mehr genauer beispiel beispiele sonst bitte weiter genau wirklich",
    "fr": "explique expliquer plus détails exemple exemples encore vraiment",
    "es": "explica explicar más detalles ejemplo ejemplos",
}
_TOPICS = {
    "en": ("what about", "how about", "and what about", "and how about", "same for", "the same for"),
    "de": ("was ist mit", "und was ist mit", "wie sieht es mit", "wie ist es mit"),
    "fr": ("qu'en est-il de", "qu’en est-il de", "et qu'en est-il de", "et pour"),
    "es": ("qué tal", "y qué pasa con", "qué hay de"),
}
# Never a name, though they stand before one.
_ARTICLES = {
    "en": "the a an this these my your our",
    "de": "der die das den dem des ein eine einen einem einer",
    "fr": "le la les l un une",
    "es": "el la los las un una",
    "it": "il lo la l gli i le un una",
    "pt": "o os a as um uma",
    "nl": "de het een",
}
DETERMINERS = frozenset(" ".join(_ARTICLES.values()).split())  # where the language is unknown
# English verbs that stand between what is asked about and the rest: "which vaccines use viral vectors".
_VERBS = (
    "allow allows allowed apply applies approve approves become becomes belong belongs bring cause causes"
    " come comes contain"
    " contains cost costs cover covers differ differs eat forgot get gets give gives go goes happen happens"
    " have help helps hold holds include includes know keep keeps lead leads lie lies live lives look make"
    " makes mean means need needs occur occurs own owns pay pays produce produces run runs say says see take"
    " takes threaten threatens use uses want work works"
)
VERBS = frozenset(_VERBS.split())
# Participles that do not end in -ed or -ing.
_PARTICIPLES = (
    "begun bought born broken brought built chosen cut done drawn driven eaten fallen felt fought forgotten"
    " found given gone grown heard held hidden kept known laid led left lost made meant met paid put read"
    " said sent set shown shut sold spent spoken stolen sung sunk taken taught thought told torn understood"
    " won worn written"
)
PARTICIPLES = frozenset(_PARTICIPLES.split())
# Scripts without spaces: what stands for something said before, and how a question goes on.
CJK_FOLLOWS = (
    r"它|牠|(?<!其)他|她|这个|那个|这里|那里|这些|那些|呢[？?]?$|それ|これ|その|この|あれ|彼|そこ|ここ"
)


@lru_cache(maxsize=64)
def vocabulary(code: str) -> Vocabulary:
    """For any code; empty lists where none are known."""

    def words(of: dict[str, str]) -> frozenset[str]:
        return frozenset(of.get(code, "").split())

    named = {
        "pronouns": words(_PRONOUNS),
        "connectors": words(_CONNECTORS),
        "asking": words(_ASKING),
        "auxiliaries": words(_AUXILIARIES),
        "prepositions": words(_PREPOSITIONS),
    }
    determiners = words(_ARTICLES) or DETERMINERS
    stop = frozenset().union(stop_words(code), determiners, *named.values())
    return Vocabulary(
        light=words(_LIGHT), topics=_TOPICS.get(code, ()), stop=stop, determiners=determiners, **named
    )
