"""Words that decide whether two sentences say the same: negations, opposites, units. Plain Python."""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOTHING: frozenset[str] = frozenset()


def _table(text: str) -> dict[str, str]:
    """Lines `key: word word ...` -> word to key."""
    pairs = (line.split(":") for line in text.strip().splitlines())
    return {word: key.strip() for key, words in pairs for word in words.split()}


_DENYING: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        not no never none neither nor cannot without non nothing nobody nowhere hardly scarcely fail fails
        failed failing lack lacks lacked lacking refuse refuses refused deny denies denied unable false
        unlikely doubtful myth whether falsely wrongly mistakenly except excepting
        excluding barring unlike
        """
    ),
    "de": _words(
        """
        nicht kein keine keinen keiner keinem keines nie niemals ohne weder niemand nichts kaum außer
        ausgenommen
        """
    ),
    "fr": _words("pas jamais aucun aucune sans ni rien personne nul nulle sauf excepté hormis"),
    "es": _words("no nunca jamás jamas sin ningún ninguno ninguna ningun nada tampoco ni salvo excepto"),
    "it": _words("non né mai nessun nessuno nessuna senza neanche tranne eccetto"),
    "pt": _words("não nao nem nenhum nenhuma sem nunca jamais"),
    "nl": _words("niet geen nooit zonder niemand noch niets behalve"),
    "sv": _words("inte ingen inget inga aldrig utan ej"),
    "da": _words("ikke ingen intet aldrig uden"),
    "no": _words("ikke ingen aldri uten ingenting"),
    "pl": _words("nie nigdy bez żaden żadna żadne ani"),
    "cs": _words("ne není nikdy bez žádný žádná ani"),
    "ru": _words("не нет ни без никогда нельзя никто ничего"),
    "uk": _words("не ні без ніколи"),
    "tr": _words("değil yok hiç"),
}
DENYING_CHARACTERS = frozenset("不没沒未無无非別别")
DENYING_ENDINGS = ("ない", "なかっ", "なく", "ません", "ずに", "않", "없", "아니")
NOT_DENIED = frozenset(("only", "least", "nur", "seulement", "solo", "solamente", "doubt"))  # "not only"


def denying(language: str) -> frozenset[str]:
    """The words that deny, in lower case; those of English for a language that is not known."""
    return _DENYING.get(language or "en", _DENYING["en"])


# Sides of a group exclude each other. A word without an opposite must be there, too.
STRICT = _table(
    """
    trend+: increase increases increased increasing rise rises rose risen rising grow grows grew grown
    trend+: growing growth climb climbed
    trend-: decrease decreases decreased decreasing decline declines declined declining fall falls fell
    trend-: fallen falling drop drops dropped shrink shrank shrinks reduce reduces reduced reduction
    time-: before prior earlier vor bevor avant antes prima voor
    time+: after later subsequently nach nachdem après apres después despues dopo na
    amount+: more greater larger bigger mehr größer plus más mais più meer
    amount-: less fewer smaller weniger kleiner moins menos meno minder
    level+: higher above oberhalb höher
    level-: lower below beneath niedriger unterhalb
    pole+: most maximum highest largest biggest greatest majority longest tallest strongest fastest
    pole+: heaviest meisten größte höchste
    pole-: least minimum lowest smallest fewest minority shortest weakest slowest lightest wenigsten
    pole-: kleinste niedrigste
    north: north northern northward nord nördlich norden norte
    south: south southern southward süd südlich süden sud sur
    east: east eastern eastward ost östlich osten est este
    west: west western westward westlich westen ouest oeste
    northeast: northeast northeastern
    northwest: northwest northwestern
    southeast: southeast southeastern
    southwest: southwest southwestern
    order+: last final finally latest letzte letzter letztes dernier dernière último
    order-: first initial initially earliest erste erster erstes premier première primero
    every: all every each entire whole always alle jeder jede jedes immer tous toutes todos siempre
    few: few
    past: formerly previously former
    some: some sometimes partly partially several einige manche teilweise quelques algunos
    only: only solely exclusively nur ausschließlich seulement solo solamente
    win+: win wins won winning victory defeat defeats defeated
    win-: lose loses lost losing loss
    buy: buy buys bought purchase purchases purchased acquire acquires acquired acquisition
    sell: sell sells sold sale
    start: begin begins began begun start starts started open opens opened beginning
    stop: end ends ended stop stops stopped cease ceased close closes closed ending finish finished
    yes: true correct
    good: positive positively advantage better best
    bad: negative negatively disadvantage worse worst
    male: male man men boy boys father son brother husband king
    female: female woman women girl girls mother daughter sister wife queen
    in: import imports imported inside enter entered arrive arrived
    out: export exports exported outside leave leaves left depart departed
    allow: allow allows allowed permit permits permitted enable enables enabled legal
    forbid: forbid forbids forbidden prohibit prohibits prohibited prevent prevents prevented ban banned
    forbid: disable disabled illegal
    young: young younger youngest new newer newest
    old: old older oldest
    cause+: cause causes caused causing
    cure: cure cures cured treat treats treated
    """
)
ALIKE = frozenset(("trend+", "trend-", "time-", "time+"))  # sides whose words stand for one another
# Where the sentence tells one dimension, a claim may not tell another.
DIMENSIONS = _table(
    """
    height: tall high height hoch höhe haut hauteur alto altura
    width: wide width broad breadth breit breite large largeur ancho
    length: long length lang länge longueur largo
    depth: deep depth tief tiefe profond profondeur
    weight: weigh weighs weighed weight heavy mass
    age: old age aged
    speed: fast speed quick
    """
)
# What a claim may add: it says nothing that the sentence does not.
LIGHT = _words(
    """
    although though height width length depth ranged ranges ranging
    tall high wide long located situated lie lies called named known include includes included including
    contain contains contained consist consists consisting comprise comprises according document documents
    passage passages text texts source sources state states stated mention mentions mentioned describe
    describes described refer refers referred also total approximately about roughly around specifically
    namely thing things year years number amount value answer question context provided given information
    used use uses using taken done carried made make makes become becomes became been
    serve serves served type kind form
    measure measures measuring stand stands stood standing take takes took occurred happened happen
    respectively example additionally moreover furthermore however therefore thus within based due various
    different specific particular certain overall said reported reports report note noted notes indicate
    indicates indicated must should could would will need needs able once people
    person persons individual individuals item items today currently now instead
    further furthermore give gives given giving gave
    liegt befindet genannt heißt bekannt laut dokument text jahr etwa ungefähr circa beträgt besteht
    haut hoch large
    situé située appelé nommé selon document texte année environ
    situado llamado según documento texto año aproximadamente
    """
)
# Of these, what may stand anywhere, between whatever words.
LOOSE = _words("must should could would will")
ROUGHLY = _words("approximately about roughly around etwa ungefähr circa environ")
LEADING = _words(
    "however therefore thus instead also additionally furthermore moreover specifically currently now"
)
PLAIN_DENIALS = _words("not no never cannot without neither nor")
ANY = _words("any anyone anybody every all each whoever whatever whichever no none not never")
EMPTY = _words("yes yeah ok okay sure certainly indeed ja jawohl oui sí si sì sim da")  # as an answer
_PRONOUNS: Mapping[str, frozenset[str]] = {
    "en": _words("he she it they his her hers its their theirs him them"),
    "de": _words("er sie es ihr ihre ihren ihrer seine sein seiner seinen seinem"),
    "fr": _words("il elle ils elles son sa ses leur leurs"),
    "es": _words("él ella ello ellos ellas su sus"),
    "it": _words("egli lui lei essa esso suo sua loro"),
    "pt": _words("ele ela eles elas seu sua seus suas"),
    "nl": _words("hij zij ze het zijn haar"),
}
_JOINING: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        and but while whereas although though because which who whom whose where when since if unless so
        that then
        """
    ),
    "de": _words("und aber während obwohl weil sondern wobei welche welcher"),
    "fr": _words("et mais tandis alors quoique parce qui que dont"),
    "es": _words("y pero mientras aunque porque cuando que"),
    "it": _words("e ma mentre perché che"),
    "pt": _words("e mas enquanto porque que"),
    "nl": _words("en maar terwijl omdat"),
    "sv": _words("och men medan"),
}
_BY: Mapping[str, frozenset[str]] = {
    "en": _words("by"), "de": _words("von durch vom"), "fr": _words("par"), "es": _words("por"),
    "it": _words("da dal dalla dai"), "pt": _words("por pelo pela"), "nl": _words("door"), "sv": _words("av"),
    "da": _words("af"), "no": _words("av"), "pl": _words("przez"),
}  # fmt: skip
DETERMINERS = _words(
    "the a an this these der die das den dem des ein eine einer le la les l un une el las una il lo os het"
)
ALL_JOINING = NOTHING.union(*_JOINING.values())


def pronouns(language: str) -> frozenset[str]:
    """Those that stand for something named before."""
    return _PRONOUNS.get(language or "en", NOTHING)


def joining(language: str) -> frozenset[str]:
    """What a clause begins with."""
    return _JOINING.get(language or "en", NOTHING)


def by(language: str) -> frozenset[str]:
    """What stands before who did it."""
    return _BY.get(language or "en", NOTHING)


UNITS = _table(
    """
    m: m metre metres meter meters mètre mètres metro metros metern
    km: km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres kilómetros kilometri
    cm: cm centimetre centimetres centimeter centimeters zentimeter
    mm: mm millimetre millimetres millimeter millimeters
    nm: nm nanometre nanometres nanometer nanometers
    µm: µm μm micrometre micrometres micrometer micrometers microns micron
    ft: ft foot feet fuß
    in: inch inches zoll
    mi: mi mile miles meilen meile
    yd: yd yard yards
    ha: ha hectare hectares hektar
    acre: acre acres
    kg: kg kilogram kilograms kilogramm kilogrammes
    g: g gram grams gramm grammes
    mg: mg milligram milligrams milligramm
    µg: µg μg mcg microgram micrograms
    lb: lb lbs pound pounds
    t: t ton tons tonne tonnes tonnen
    l: l litre litres liter liters
    ml: ml millilitre millilitres milliliter milliliters
    %: % percent percentage prozent procent pct
    pp: pp
    usd: $ usd dollar dollars us$
    eur: € eur euro euros
    gbp: £ gbp sterling
    jpy: ¥ jpy yen
    chf: chf francs franken
    °c: °c celsius
    °f: °f fahrenheit
    k: kelvin
    s: s sec second seconds sekunde sekunden seconde secondes segundos
    ms: ms millisecond milliseconds
    min: min minute minutes minuten minutos
    h: h hr hrs hour hours stunde stunden heure heures horas
    day: day days tag tage tagen jour jours días dagen
    week: week weeks woche wochen semaine semaines semanas
    month: month months monat monate monaten mois meses
    year: year years yr yrs jahr jahre jahren année années ans años
    kw: kw kilowatt kilowatts
    mw: mw megawatt megawatts
    gw: gw gigawatt gigawatts
    w: w watt watts
    v: v volt volts
    hz: hz hertz
    mhz: mhz megahertz
    ghz: ghz gigahertz
    kb: kb kilobyte kilobytes
    mb: mb megabyte megabytes
    gb: gb gigabyte gigabytes
    tb: tb terabyte terabytes
    bp: bp bps
    km/h: kmh kph
    mph: mph
    fold: fold times
    """
)
SCALES: Mapping[str, int] = {
    **dict.fromkeys(_words("thousand thousands tausend mille mil k"), 3),
    **dict.fromkeys(_words("million millions mn mio millionen millones milhões milioni miljoen"), 6),
    **dict.fromkeys(_words("billion billions bn mrd milliarde milliarden milliards miliardi miljard"), 9),
    **dict.fromkeys(_words("trillion trillions tn"), 12),
    "万": 4, "萬": 4, "亿": 8, "億": 8,
}  # fmt: skip


def _counted(text: str, start: int, step: int = 1) -> dict[str, int]:
    return {word: start + step * n for n, word in enumerate(text.split()) if word != "-"}


WORTH: Mapping[str, int] = {
    **_counted("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen", 0),
    **_counted("fifteen sixteen seventeen eighteen nineteen twenty", 15),
    **_counted("thirty forty fifty sixty seventy eighty ninety", 30, 10),
    **_counted("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", 0),
    **_counted("zéro - deux trois quatre cinq six sept huit neuf dix onze douze", 0),
    **_counted("cero - dos tres cuatro cinco seis siete ocho nueve diez once doce", 0),
}
ORDINALS: Mapping[str, int] = {
    **_counted("second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 2),
    **_counted("thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth", 13),
    **_counted("zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte", 2),
}
BOUNDS = {
    ("more", "than"): ">", ("less", "than"): "<", ("fewer", "than"): "<", ("greater", "than"): ">",
    ("higher", "than"): ">", ("lower", "than"): "<", ("larger", "than"): ">", ("smaller", "than"): "<",
    ("at", "least"): ">", ("at", "most"): "<",
    ("up", "to"): "<", ("minimum", "of"): ">", ("maximum", "of"): "<",
    ("mehr", "als"): ">", ("weniger", "als"): "<",
    ("bis", "zu"): "<", ("plus", "de"): ">", ("moins", "de"): "<",
    ("au", "moins"): ">", ("au", "plus"): "<",
    ("más", "de"): ">", ("menos", "de"): "<", ("al", "menos"): ">",
}  # fmt: skip
BOUND_WORDS = {
    "over": ">", "above": ">", "exceeding": ">", "exceeds": ">",
    "exceed": ">", "exceeded": ">", ">": ">", "≥": ">",
    "under": "<", "below": "<", "<": "<", "≤": "<",
    "über": ">", "unter": "<", "mindestens": ">", "höchstens": "<", "maximal": "<",
}  # fmt: skip
# Forms that no stemmer joins, and words of one meaning.
SAME = _table(
    """
    build: built construct constructs constructed constructing construction erect erected
    begin: began begun begins beginning start starts started starting commence commenced
    end: ended ends finish finished finishes conclude concluded
    write: wrote written writes writing
    win: won wins winning
    hold: held holds
    take: took taken
    give: gave given gives
    become: became becomes
    grow: grew grown growth
    lead: led leads
    leave: left leaves
    lose: lost loses
    sell: sold sells
    buy: bought buys purchase purchased purchases acquire acquired acquires acquisition
    teach: taught
    know: knew known
    see: saw seen
    run: ran runs
    rise: rose risen
    fall: fell fallen
    speak: spoke spoken
    go: went gone
    come: came
    meet: met
    pay: paid
    bring: brought
    think: thought
    fight: fought
    send: sent
    spend: spent
    keep: kept
    draw: drew drawn
    drive: drove driven
    choose: chose chosen
    break: broke broken
    show: showed shown shows demonstrate demonstrated demonstrates
    big: large
    use: used uses using utilize utilized utilise utilised
    make: made makes
    die: died dies death dead
    bear: born birth
    child: children
    man: men
    woman: women
    foot: feet
    create: created creates produce produced produces
    help: helps helped assist assists
    marry: married marriage wed
    near: nearby close
    permit: permits permitted allow allows allowed
    forbid: forbids forbade forbidden prohibit prohibits prohibited
    require: requires required need needs needed
    receive: receives received get gets got
    """
)
SAME_GERMAN = _table(
    """
    bau: gebaut erbaut errichtet baute bauten
    gründ: gegründet gründete gründeten
    schreib: geschrieben schrieb schrieben
    beginn: begann begannen begonnen
    """
)
# What weakens the verb behind it, and what a claim may say instead.
HEDGING = _words("may might")
HEDGES = HEDGING | _words(
    """
    can could would if possibly perhaps potentially likely possible potential probably sometimes suggest
    suggests suggested allow allows allowed permit permits permitted able option optional right rights
    entitled risk risks seem seems appear appears thought believed power powers
    """
)
HEARSAY = _words(  # before "to", or before "that"
    """
    thought believed said claimed alleged suspected considered reported supposed assumed rumoured
    rumored presumed known
    """
)
OPINIONS = _words(
    """
    suspect suspects suspected claim claims claimed argue argues argued think thinks thought believe believes
    believed allege alleges alleged fear fears feared hope hopes hoped doubt doubts doubted suggest suggests
    suggested assume assumes assumed myth rumour rumor
    """
)
UNSURE = _words(
    "probably possibly perhaps presumably apparently allegedly reportedly supposedly seemingly likely"
)
PLANNING = _words(
    """
    expects expect expected plans planned intends intended aims hopes proposes wants want wanted tries tried
    attempts attempted seeks sought wishes wished threatens threatened promises promised
    """
)
PLANS = PLANNING | _words(
    """
    plan intend aim aimed hope hoped propose proposed will would shall should going scheduled due expecting
    planning expectation expectations intention target targets
    """
)
# With any of these a claim is no surer than hearsay.
KEPT = (
    HEDGES
    | PLANS
    | HEARSAY
    | UNSURE
    | _words("estimate estimates estimation say says seem think believe may might")
)
CONDITIONS = _words("if unless")
CONDITIONAL = CONDITIONS | _words("when whether provided where case until once would could")
