"""Whether a passage supports what a model sums up of it in words of its own. Plain Python.

The Service's models are small ones that are told to answer, not to quote: "Employees get 25 days of vacation"
is true where the policy "grants every employee 25 days of paid vacation". Names, numbers, negations and
opposites are held to the passage all the same, and so is every word that says something of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from rag.checking.agreement import agrees_beside, relations_agree, share
from rag.checking.judge import judged
from rag.checking.statements import Statement, statement_of
from rag.checking.types import Verdict
from rag.checking.words import Token
from rag.sentences import analysis_of, words_of
from rag.types import Block

LOOKED_AT = 4  # sentences of a passage that are compared in full
LEAST = 0.5  # of a claim's words and numbers that stand there
# What a summary says for "must", "has", "is", "grants": of a passage that says the rest it tells nothing new.
_VERBS = """
    need needs needed necessary require requires required requiring requirement requirements mandatory
    obligatory should apply applies applied follow follows following ensure ensures get gets getting got
    receive receives received receiving entitled entitle entitles eligible provide provides provided providing
    offer offers offered give gives given giving grant grants granted include includes included including
    involve involves involved involving contain contains consist consists comprise comprises state states
    stated specify specifies specified mention mentions mentioned describe describes described say says said
    explain explains use uses used using happen happens occur occurs times order annually yearly means mean
    refers
    benötigen benötigt brauchen braucht bedürfen bedarf erfordern erfordert erforderlich notwendig
    vorgeschrieben verpflichtend gelten gilt erhalten erhält bekommen bekommt gewähren gewährt bieten bietet
    zustehen umfassen umfasst enthalten enthält verwenden verwendet jährlich
    nécessite nécessitent requis requise exige exigent obligatoire obligatoires reçoit reçoivent obtient
    obtiennent accorde accordent bénéficie bénéficient offre offrent comprend comprennent inclut incluent
    necesita necesitan requiere requieren obligatorio obligatoria obligatorios recibe reciben obtiene obtienen
    concede conceden ofrece ofrecen incluye incluyen
"""
_PEOPLE = """
    employee employees staff personnel worker workers people person persons everyone everybody anyone
    mitarbeiter mitarbeitern mitarbeitende mitarbeitenden beschäftigte beschäftigten arbeitnehmer angestellte
    angestellten personal personen
    employé employés salarié salariés travailleur travailleurs
    empleado empleados trabajador trabajadores
"""
EACH = frozenset(["a", "an", "each", "every", "per"])
VERBS, PEOPLE = frozenset(_VERBS.split()), frozenset(_PEOPLE.split())


class SummaryJudge:
    """A ClaimJudge: what the word judge finds, and then this."""

    async def judge(self, claim: str, texts: Sequence[Block]) -> list[Verdict]:
        return [_judged(claim, block) for block in texts]


def _judged(claim: str, block: Block) -> Verdict:
    verdict = judged(claim, block.content, block.language)
    return verdict if verdict.support else _summed_up(claim, block) or verdict


def _summed_up(claim: str, block: Block) -> Verdict | None:
    statement = statement_of(claim, block.language)
    for start, end in _windows(claim, block):
        said = statement_of(block.content[start:end], block.language)
        found = share(statement, said)
        if found >= LEAST and agrees_beside(statement, said, _spare_of(statement, said)):
            return Verdict("supported", start, end, found)
        if found == 1 and not relations_agree(statement, said):  # it says otherwise, in the claim's own words
            return None
    return None


def _windows(claim: str, block: Block) -> Iterator[tuple[int, int]]:
    """The sentences that share most words with the claim, each alone, then with the next one or the last."""
    sentences, words = analysis_of(block.content, block.language).sentences, words_of(claim, block.language)
    shared = sorted((-len(words & sentence.words), n) for n, sentence in enumerate(sentences))
    nearest = [n for count, n in shared[:LOOKED_AT] if count]
    yield from ((sentences[n].start, sentences[n].end) for n in nearest)
    for n in nearest:
        yield from (
            (sentences[one].start, sentences[one + 1].end)
            for one in (n - 1, n)
            if 0 <= one < len(sentences) - 1
        )


def _spare_of(claim: Statement, said: Statement) -> Callable[[Token], bool]:
    """What of the claim need not stand in the sentence."""
    times = {after.text for before, after in pairwise(said.tokens) if before.text in EACH}
    rates = {
        id(before) for before, after in pairwise(claim.tokens) if before.text in EACH and after.text in times
    }

    def is_spare(token: Token) -> bool:
        if token.kind == "name" and not token.first:
            return False
        if id(token) in rates:  # "per year" of "each year"
            return True
        return token.text in VERBS or (token.text in PEOPLE and not PEOPLE.isdisjoint(said.texts))

    return is_spare
