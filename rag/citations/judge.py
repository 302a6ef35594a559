"""What a context says of a claim: decided by facts and words, without a model. Plain Python.

Words can show that a claim stands in a passage, and facts that it does not: a number, a month or a name that
does not stand where the passages speak of what the claim speaks of. Whether a free paraphrase says the same
cannot be told by words, so it stays unverified. See docs/citations.md.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, islice

from documents.text.tables import is_row, read_rows, says_row, split_row
from documents.types import TableHead
from rag.citations.agreement import (
    agrees,
    denials,
    denies,
    has_name,
    has_number,
    has_other_number,
    has_pronoun,
    has_unread_number,
    in_one_go,
    names_in,
    quotations,
    stems_of,
)
from rag.citations.facts import facts_of, numbers_of
from rag.citations.folding import UNSPACED, bare, find_quote, occurrences
from rag.citations.tokens import DATA, Fact, table
from rag.citations.windows import Windows
from rag.types.claims import Claim, Finding, Judgement
from rag.types.context import Block
from rag.word_data import read_lines

OCCURRENCES = 5  # of a claim in a passage that are looked at
WORD_FOR_WORD = 0.7  # of a claim's words: with fewer in a window it does not stand there word for word
SAME_WORDS = 0.85  # of a claim's words and of a sentence's: they say the same, or the opposite
SPEAKS_OF = 0.55  # of the rest of a claim: there a name in it must stand
OWN_LANGUAGE = 0.34  # of a claim's words in a window: with fewer everywhere it is in another language
STATEMENT_WORDS = 5  # of a part of a sentence that is a statement by itself
SENTENCE_WORDS = 3  # of a whole sentence with a full stop: with fewer it is a name or a number
NAME_WORDS = 4  # a terse answer of no more is a mere name or number
TERSE_WORDS = 8  # fewer without a verb are an answer only together with the question
QUESTION_WORDS = 0.6  # of a question's words in the sentence that a terse answer stands in
LEAST_TORN, MOST_TORN = 5, 60  # letters of a name that may be torn by spaces
QUOTE_CHARS = 12  # shorter quotes of a model prove nothing
_FINITE = frozenset(table("finite_verbs"))
_LEFT_OUT = re.compile(r"[\[(]?(?:\.\.\.|…)[\])]?")
_DIGITS = re.compile(r"\d[\d.,]*\d|\d")
_WORD = re.compile(rf"[{UNSPACED}]|\w+(?:['’]\w+)?")
_NO_HEADING = re.compile(r"[.!…。！｡।۔](?:[\"'”’»)]|\[[\d, –-]*\])*\Z|[:：]\s")  # its full stop, or an entry
_FULL_STOP = re.compile(r"[.!](?:[\"'”’»)]|\[[\d, –-]*\])*\Z")
_ARTICLES = frozenset(table("articles"))
_JOINED = r"(?:and|but|while|und|aber|et|mais|y|pero)\b"
_NO_SUBJECT = re.compile(rf"\W*(?:{_JOINED}\W*)?(?:{'|'.join(_FINITE)})\b", re.IGNORECASE)
_CLAUSE_ENDS = re.compile(rf"\s*(?:[.,;:!?()\[\]—–]|{_JOINED}|\Z)")
_CONDITION = re.compile(
    r"[\s,;—–-]*(?:if|unless|only|except|provided|when|nor|wenn|falls|sofern|außer|nur)\b", re.IGNORECASE
)
_KINDS = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), kinds.split())
    for kinds, patterns in read_lines(DATA / "question_words.txt").items()
    for pattern in patterns
)


class WordJudge:
    """Judges by facts and words; role CLAIM_JUDGE, on which every other judge rests. Never raises."""

    async def judge(self, claim: Claim, blocks: Sequence[Block]) -> Judgement:
        return judge_claim(claim, blocks)


def judge_claim(claim: Claim, blocks: Sequence[Block]) -> Judgement:
    """Return the state of the claim for each block that it cites, or what of it contradicts the context.

    Where no cited block verifies the claim and another one does, that one is found instead. A claim that
    cites nothing is looked for in all blocks, and the best one is found.
    """
    reading = _BlockReader(claim, blocks)
    numbers = range(1, len(blocks) + 1)
    cited = [n for n in claim.cited if n in numbers]
    others = [n for n in numbers if n not in cited]
    rows = [finding for n in cited for finding in reading.row(n)]
    if rows:
        return Judgement(tuple(rows))
    exact = _find_first(reading.exact, cited, others)
    missing = () if exact else reading.missing()
    if missing:
        return Judgement(missing=missing)
    verified = (
        exact or _find_first(reading.quoted, cited, ()) or _find_first(reading.supported, cited, others)
    )
    findings_by_block = {finding.block: finding for finding in verified}
    if cited and (not findings_by_block or not findings_by_block.keys().isdisjoint(cited)):
        return Judgement(tuple(findings_by_block.get(n) or reading.nearest(n) for n in cited))
    best = list(findings_by_block) or sorted(numbers, key=lambda n: -reading.windows.best(n).share)[:1]
    return Judgement(tuple(findings_by_block.get(n) or reading.nearest(n) for n in best))


def _find_first(
    look: Callable[[int], Finding | None], cited: Iterable[int], others: Iterable[int]
) -> list[Finding]:
    """Return all findings in cited blocks, or else the first one in another block."""
    findings = [finding for n in cited if (finding := look(n))]
    return findings or list(islice((finding for n in others if (finding := look(n))), 1))


class _BlockReader:
    """Reads the blocks for one claim, each only as far as it is needed."""

    def __init__(self, claim: Claim, blocks: Sequence[Block]) -> None:
        heads = dict.fromkeys("\n".join(block.table_head) for block in blocks if block.table_head)
        self._claim, self._blocks = claim, blocks
        self._given = "\n".join((claim.question, claim.given, *heads))  # a row is read with its table's head
        self._language = blocks[0].language if blocks else ""  # a context is mostly in one
        words = _WORD.findall(claim.text.lower())
        self._is_terse = len(words) <= TERSE_WORDS and _FINITE.isdisjoint(words)
        self._is_bare = self._is_terse and len(words) <= NAME_WORDS
        self._bare = bare(claim.text)
        self._stems = frozenset(stems_of(claim.text, self._language))
        sought = f"{claim.text}\n{claim.question}" if self._is_terse else claim.text
        self.windows = Windows(blocks, stems_of(sought, self._language))

    @cached_property
    def _overlap(self) -> float:
        """Return the largest share of the claim's words that stand in one place."""
        shares = (self.windows.best(n).share for n in range(1, len(self._blocks) + 1))
        return max(shares, default=0.0)

    def row(self, number: int) -> list[Finding]:
        """Find the row of a table that the claim reads with its head; and the head, where that is there."""
        block = self._blocks[number - 1]
        head = TableHead.of(block.table_head)
        if head is None:
            return []
        text = " ".join(self._claim.text.split())
        rows = [row for _, row in read_rows(block.content, self.windows.spans(number), head)]
        said = next((row for row in rows if says_row(text, row, head)), None)
        if said is None:
            return []
        found = [Finding(number, "supported", said.start, said.end)]
        above = block.content[: rows[0].start].rstrip()
        if above:
            begin = len(above) - len(above.lstrip())
            found.insert(0, Finding(number, "supported", begin, len(above)))
        return found

    def exact(self, number: int) -> Finding | None:
        """Find the claim word for word, as a statement of its own."""
        block, text = self._blocks[number - 1], self._claim.text
        content = block.content
        if not self._bare:
            return None
        if (at := content.find(text)) >= 0:  # as most do that are: then no other block is looked at
            begin, end = self.windows.sentences(number, at, at + len(text))
        elif self._is_terse or block.language != self._language:  # its words tell no place
            begin, end = 0, len(content)
        elif (window := self.windows.best(number)).share >= WORD_FOR_WORD:
            begin, end = self.windows.span(number, window)
        else:
            return None
        for first, last in islice(occurrences(self._bare, content[begin:end]), OCCURRENCES):
            occurrence = begin + first, begin + last
            sentence = self.windows.sentences(number, *occurrence)
            if _is_statement(self._bare, content, sentence, occurrence):
                return Finding(number, "exact", *sentence)
        return None

    def quoted(self, number: int) -> Finding | None:
        """Find the words that the model gives as its proof, if the claim's facts agree with them. Its numbers
        and names stand in those sentences, and it denies what they deny; a mere name or number is among the
        words itself.
        """
        spans = self._quotes(number)
        if not spans:
            return None
        content, claim = self._blocks[number - 1].content, self._claim
        quotes = "\n".join(content[slice(*span)] for span in spans)
        around = (self.windows.around(number, *span) for span in spans)
        text = "\n".join((*dict.fromkeys(around), self._given))
        agrees = (
            all(has_number(fact, text) for fact in numbers_of(claim.text))
            and all(has_name(fact, text) for fact in names_in(claim.text, self._language))
            and denies(claim.text) == denies(quotes)
            and (not self._is_bare or self._bare in bare(quotes))
        )
        return Finding(number, "supported", *spans[0]) if agrees else None

    def supported(self, number: int) -> Finding | None:
        """Find a sentence that says the claim nearly in its words, or that answers the question with it.

        What has no subject, as the part of a sentence behind its first marker, is said of who knows whom.
        """
        if self._is_terse:
            return self._find_answer(number)
        if _NO_SUBJECT.match(self._claim.text):
            return None
        for sentence, text in self.windows.sentences_of(number):
            says = sentence.words >= self._stems and in_one_go(self._claim.text, text, self._language)
            if says and self._agrees(f"{text}\n{self._given}"):
                return Finding(number, "supported", sentence.start, sentence.end)
        return None

    def nearest(self, number: int) -> Finding:
        """Return the model's own quote, or the sentences that share most with the claim, as unverified."""
        quotes = self._quotes(number)
        span = quotes[0] if quotes else self.windows.span(number, self.windows.best(number))
        return Finding(number, "unverified", *span)

    def missing(self) -> tuple[str, ...]:
        """Return what of the claim contradicts the context. That are numbers, months, names and quotations
        that do not stand where it speaks of what the claim speaks of, or a denial that only one of the two
        has.
        """
        claim = self._claim.text
        absent = [number.text for number in numbers_of(claim) if not self._has_number(number)]
        if self._overlap >= OWN_LANGUAGE:  # names of another language may be written otherwise
            absent += [name.text for name in names_in(claim, self._language) if not self._has_name(name)]
            absent += [quote for quote in quotations(claim) if not self._holds_quote(quote)]
        if absent and not self._stands_in_blocks():
            return tuple(dict.fromkeys(absent))
        return self._find_turned_denial()

    def _stands_in_blocks(self) -> bool:
        """Tell whether all words of the claim, if it is more than a name, stand in a block."""
        return not self._is_bare and any(
            find_quote(self._claim.text, block.content) for block in self._blocks
        )

    def _has_number(self, number: Fact) -> bool:
        """Tell whether the number stands near the claim, or may stand there in words that are not read. One
        that measures something must stand where the context says the rest of the claim, unless nothing else
        is measured so there.
        """
        given = self._given
        if self._stands_in_row(number):
            return True
        if not has_number(number, "\n".join((*self._number_texts, given))):
            return any(map(has_unread_number, self._find_rest(number, beside=0)))
        places = self._find_rest(number, beside=1) if number.unit else []
        if not places or any(has_number(number, text) for text in (given, *places)):
            return True
        return not has_other_number(number, places[0], f"{self._claim.text}\n{given}")

    def _stands_in_row(self, number: Fact) -> bool:
        """Tell whether a row has the number, and half of what the row is called is claimed or asked.

        Text beside the table says the rest of the claim, with other numbers.
        """
        digits = _DIGITS.search(number.text)
        for line in chain.from_iterable(block.content.split("\n") for block in self._blocks):
            if digits and digits[0] in line and is_row(line) and has_number(number, line):
                called = frozenset(stems_of(split_row(line)[0], self._language))
                if called and 2 * len(called & self._said) >= len(called):
                    return True
        return False

    @cached_property
    def _said(self) -> frozenset[str]:
        return self._stems | frozenset(stems_of(self._given, self._language))

    @cached_property
    def _number_texts(self) -> list[str]:
        """Return where to look for numbers: near the claim, if the context speaks of it in its words."""
        everything = [block.content for block in self._blocks]
        return [self.windows.near] if self._overlap >= SPEAKS_OF else everything

    def _has_name(self, name: Fact) -> bool:
        """Tell whether the name stands where the context says the rest of the claim. If the best such place
        has a pronoun or no other name, it may stand anywhere.
        """
        given = self._given
        if not any(has_name(name, text) for text in (given, *(block.content for block in self._blocks))):
            return self._holds_torn(name.text)
        places = self._find_rest(name, beside=0)
        if not places or any(has_name(name, text) for text in (given, *places)) or has_pronoun(places[0]):
            return True
        return all(
            has_name(other_name, f"{self._claim.text}\n{given}")
            for other_name in names_in(places[0], self._language)
        )

    def _holds_torn(self, name: str) -> bool:
        """Tell whether the name stands in the context with spaces in it, as PDFs have them: "Pr esident"."""
        letters = "".join(name.split())[:MOST_TORN]
        if len(letters) < LEAST_TORN:
            return False
        torn = re.compile(rf"\b{' ?'.join(map(re.escape, letters))}\b", re.IGNORECASE)
        return any(torn.search(block.content) for block in self._blocks)

    def _find_rest(self, fact: Fact, *, beside: int) -> list[str]:
        stems = frozenset(stems_of(fact.text, self._language))
        return self.windows.saying(stems, SPEAKS_OF, beside=beside)

    def _find_turned_denial(self) -> tuple[str, ...]:
        """Return the denial that only one of the two has, where a sentence says all the rest.

        The words that deny are not of the rest: "never" is no word that a sentence without it lacks.
        """
        claimed = denials(self._claim.text)
        rest = self._stems - self._stems_of(claimed)
        turned: tuple[str, ...] = ()
        for number in range(1, len(self._blocks) + 1):
            for sentence, text in self.windows.sentences_of(number):
                shared = len(sentence.words & rest)
                if not shared or shared < SAME_WORDS * len(rest):
                    continue
                stated = denials(text)
                if denies(self._claim.text) == denies(text):
                    return ()
                if shared >= SAME_WORDS * len(sentence.words - self._stems_of(stated)):
                    turned = turned or tuple((claimed or stated)[:1])
        return turned

    def _stems_of(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(stems_of(" ".join(words), self._language))

    def _find_answer(self, number: int) -> Finding | None:
        """Find the one sentence that holds a terse answer. It speaks of what the question speaks of, and
        holds nothing else of the kind that is asked for.
        """
        asked = self._claim.question
        question = frozenset(stems_of(asked, self._language))
        kinds = next((kinds for words, kinds in _KINDS if words.search(asked)), ())
        for sentence, text in self.windows.sentences_of(number) if question and kinds else ():
            if len(sentence.words & question) >= QUESTION_WORDS * len(question):
                facts = (fact for fact in facts_of(text, self._language) if fact.kind in kinds)
                candidates = {bare(fact.text) for fact in facts}
                answers = [candidate for candidate in candidates if candidate not in bare(asked)]
                if len(answers) == 1 and answers[0] in self._bare:
                    return Finding(number, "supported", sentence.start, sentence.end)
        return None

    def _agrees(self, text: str) -> bool:
        return agrees(self._claim.text, text, self._language)

    def _quotes(self, number: int) -> list[tuple[int, int]]:
        """Return the spans of the model's quotes of this block."""
        content = self._blocks[number - 1].content
        quotes = (source.quote for source in self._claim.quotes if source.block == number)
        spans = (find_quote(quote, content) for quote in quotes if len(quote) >= QUOTE_CHARS)
        return [span for span in spans if span]

    def _holds_quote(self, quote: str) -> bool:
        """Tell whether a block has all that is quoted; dots stand for what was left out."""
        parts = [part for part in _LEFT_OUT.split(quote) if _WORD.search(part)]
        return any(
            all(part in block.content or find_quote(part, block.content) for part in parts)
            for block in self._blocks
        )


def _is_statement(sought: str, content: str, sentence: tuple[int, int], occurrence: tuple[int, int]) -> bool:
    """Tell whether an occurrence of the claim is a statement. That are whole sentences, and no heading; or a
    part with a verb that begins where its sentence does, ends where a clause does, and is under no condition.
    """
    words = _WORD.findall(sought)
    has_verb = not _FINITE.isdisjoint(words)
    if bare(content[slice(*sentence)]) == sought:
        if has_verb or _is_short_sentence(content[slice(*sentence)].strip()):
            return True
        return len(words) >= STATEMENT_WORDS and _NO_HEADING.search(content, *sentence) is not None
    remainder = content[occurrence[1] : sentence[1]]
    return (
        has_verb
        and len(words) >= STATEMENT_WORDS
        and not _WORD.search(content, sentence[0], occurrence[0])
        and _CLAUSE_ENDS.match(remainder) is not None
        and _CONDITION.match(remainder) is None
    )


def _is_short_sentence(sentence: str) -> bool:
    """Tell whether a sentence with any verb is a statement, and no name or noun with a full stop behind it:
    "Marta repairs clocks.", but not "The old mill." or "Chief Executive Officer."
    """
    first, *others = _WORD.findall(sentence) or [""]
    least = SENTENCE_WORDS + (first.lower() in _ARTICLES)
    return (
        len(others) + 1 >= least
        and any(word.islower() for word in others)
        and _FULL_STOP.search(sentence) is not None
    )
