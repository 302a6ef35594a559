"""The words of a question: their worth in the collections read, and those that find a literal string."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Literal, NamedTuple, TypeAlias

from embeddings.lexical.index import sparse_text
from embeddings.lexical.languages import CJK
from embeddings.lexical.terms import hash_position, idf, lexemes, quote_lexeme
from rag.retrievers.paraphrases import LANGUAGE, paraphrases_of, weigh_paraphrases

ALL_CHUNKS = ""  # the lexeme under which the chunks themselves are counted
# Against scoring every chunk that holds any word, 100 questions of 12 words on 100,000 chunks of real text:
# .98 of its ten best are found, for 8 ms of CPU instead of 72; single words alone find .87 for 3.
RAREST = 8
MOST_MATCHES = 2000
MOST = 5000
TOGETHER = 3  # times as often as by chance
MOST_READ = 20_000  # places in the index that are gone through: of each rarer word of two, all of its chunks


Matching: TypeAlias = Literal["each", "indexed", "capped"]


class CandidateQuery(NamedTuple):
    """Words that find candidates. query: a tsquery, "" for none.

    matching: by a look at each chunk that may be found, by the index of words, or the same with a cap: more
    chunks match than are to be scored, since the question has no rarer words.
    """

    query: str
    matching: Matching = "indexed"


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The distinct words of a question in the analyses of all languages that the documents are in.

    idf: of all. known: (word, in how many chunks it stands), the rarest first. mass: what all words of the
    question are worth together in the language that knows them best, unknown ones included; never 0.
    chunks: how many are read. paraphrases: by word of the question what some text says for it, with what it
    weighs; known where these are searched for, too.
    """

    idf: dict[str, float]
    known: tuple[tuple[str, int], ...]
    mass: float
    chunks: int
    paraphrases: dict[str, dict[str, float]]

    def candidate_query(self) -> CandidateQuery:
        """Choose the words that find candidates.

        Of the RAREST rarest ones those that stand in at most MOST_MATCHES chunks together (the rarest of all
        in MOST), and two of the others at once, as long as that comes to about MOST chunks, and to MOST_READ
        places in the index of words. Where each of them and every two are more common than that, three or
        more at once.
        """
        known = self.known[:RAREST]
        if not known:
            return CandidateQuery("")
        sums = list(accumulate(chunks for _, chunks in known))
        alone = sum(matches <= MOST_MATCHES for matches in sums) or int(sums[0] <= MOST)
        terms = [quote_lexeme(word) for word, _ in known[:alone]]
        common = known[alone:]
        for size in range(2, len(common) + 1):
            terms += self._choose_together(common, size, matches=sums[alone - 1] if alone else 0)
            if terms:
                break
        if terms:
            return CandidateQuery(" | ".join(terms))
        return CandidateQuery(_match_all(word for word, _ in known), "capped")

    def _choose_together(
        self, known: Sequence[tuple[str, int]], size: int, *, matches: float
    ) -> Iterator[str]:
        """Yield so many words at a time, the least frequent first. matches: chunks that others find."""
        chunks_with, read, gone_through = dict(known), matches, set[str]()
        for expected, words in sorted(self._together(known, size)):
            if matches + expected > MOST:
                return
            more = 0 if words[0] in gone_through else chunks_with[words[0]]
            if read and read + more > MOST_READ:
                continue
            matches, read = matches + expected, read + more
            gone_through.add(words[0])
            yield _match_all(words)

    def _together(
        self, known: Sequence[tuple[str, int]], size: int
    ) -> Iterable[tuple[float, tuple[str, ...]]]:
        """Yield (in how many chunks so many words stand at once, at a guess, these words): words of a kind
        keep together.
        """
        for some in combinations(known, size):
            expected = float(some[0][1])
            for _, chunks in some[1:]:
                expected = min(expected, chunks, TOGETHER * expected * chunks / max(self.chunks, 1))
            yield expected, tuple(word for word, _ in some)

    def all_known(self) -> str:
        """Return every known word, as a tsquery: for few chunks, of which none may be missed."""
        return match_any(word for word, _ in self.known)

    def weights(self) -> str:
        """Return the known words' idf at their hashed places, as a sparsevec."""
        places: dict[int, float] = {}
        worth = _heaviest(self.paraphrases) | self.idf
        for word, _ in self.known:
            place = hash_position(word)
            places[place] = places.get(place, 0.0) + worth[word]
        return sparse_text(places)


def weigh_words(
    asked: Mapping[str, Sequence[str]], chunks_with: Mapping[str, int], *, widely: bool = False
) -> QueryWords:
    """Weigh the words by language.

    chunks_with: in how many chunks each stands, and each of their paraphrases; ALL_CHUNKS: of how many.
    widely: whether paraphrases are searched for, too.
    """
    words, chunks = distinct_words(asked), chunks_with.get(ALL_CHUNKS, 0)
    worth = {word: idf(chunks_with.get(word, 0), chunks) for word in words}
    others = [word for word in paraphrases_of(asked.get(LANGUAGE, ())) if chunks_with.get(word, 0) > 0]
    told = {word: idf(chunks_with[word], chunks) for word in others}
    paraphrases = weigh_paraphrases(asked.get(LANGUAGE, ()), told | worth)
    searched = dict.fromkeys([*words, *_heaviest(paraphrases)] if widely else words)
    known = [(word, chunks_with[word]) for word in searched if chunks_with.get(word, 0) > 0]
    masses = [sum(worth[word] for word in of_language) for of_language in asked.values()]
    rarest_first = tuple(sorted(known, key=lambda held: (held[1], held[0])))
    mass = min(filter(None, masses), default=1.0)
    return QueryWords(worth, rarest_first, mass, chunks, paraphrases)


def _heaviest(paraphrases: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return what each paraphrase weighs for the word that it weighs most for."""
    weights: dict[str, float] = {}
    for others in paraphrases.values():
        for other, weight in others.items():
            weights[other] = max(weight, weights.get(other, 0.0))
    return weights


def distinct_words(asked: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(word for words in asked.values() for word in words))


def _match_all(words: Iterable[str]) -> str:
    quoted = list(map(quote_lexeme, words))
    return quoted[0] if len(quoted) == 1 else f"({' & '.join(quoted)})"


def match_any(words: Iterable[str]) -> str:
    return " | ".join(map(quote_lexeme, words))


_RUN = re.compile(f"[{CJK}]+")  # no spaces between words: all pairs of characters are words
_WORD = re.compile(f"[^\\W_{CJK}]+")
# What ends a word in every analysis. An apostrophe, a combining mark or a soft hyphen may not.
_BOUNDARY = re.compile(rf'[\s!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{{|}}~{CJK}]')
_SPECIAL = re.compile(r"\W")  # a backslash before these takes them for themselves
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True, slots=True)
class Needle:
    """text: as typed, white space evened out. longest: its longest piece without white space.

    pattern: a regular expression of PostgreSQL's that takes any white space for a space.
    words: a tsquery that every chunk with the string matches; "" where nothing can be said.
    """

    text: str
    longest: str
    pattern: str
    words: str

    @property
    def one_word(self) -> bool:
        return self.longest == self.text

    @property
    def parameters(self) -> dict[str, str]:
        found = {"longest": self.longest, "pattern": self.pattern}
        return {**found, "words": self.words} if self.words else found


def make_needle(text: str, languages: Iterable[str] = ()) -> Needle:
    """Make the needle. languages: of the documents that are read; by each of them the words are analysed."""
    pieces = unicodedata.normalize("NFC", text).split()
    evened = " ".join(pieces)
    pattern = r"\s+".join(_SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces)
    return Needle(evened, max(pieces, key=len), pattern, _query(evened, tuple(languages)))


def _query(text: str, languages: tuple[str, ...]) -> str:
    """Require for each language all of its words; "" if in one of them there is none to go by."""
    whole = list(_whole_words(unicodedata.normalize("NFKC", text).lower()))
    queries = []
    for language in languages:
        words = {lexeme for word in whole for lexeme in lexemes(word, language)}
        if not words:
            return ""
        queries.append(f"({' & '.join(map(quote_lexeme, sorted(words)))})")
    return " | ".join(queries)


def _whole_words(folded: str) -> Iterator[str]:
    """Runs of CJK characters, and inner words; the first and the last may be parts of longer ones."""
    yield from (run.group() for run in _RUN.finditer(folded) if len(run.group()) > 1)
    for found in _WORD.finditer(folded):
        before, after = (
            folded[max(0, found.start() - 1) : found.start()],
            folded[found.end() : found.end() + 1],
        )
        if _BOUNDARY.match(before) and _BOUNDARY.match(after) and not _UNSPACED.search(found.group()):
            yield found.group()
