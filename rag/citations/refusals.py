"""How a model says that it was told nothing of what was asked, in several languages. Plain Python."""

import re

from rag.citations.markers import words_in
from rag.prompts import says_not_found

_LEAD_IN = re.compile(
    r"(?:however|but|unfortunately|sorry|also|additionally|leider|jedoch|aber|malheureusement|cependant|désolé"
    r"|lo siento|lamentablemente|sin embargo"
    r"|(?:based on|according to) the (?:provided |given |available )?"
    r"(?:context|information|content|passages|blocks|sources|documents|text)"
    r"(?: (?:blocks|provided|given|above))?"
    r"),? (?:but )?"
)
_PHRASES = (
    r"(?:i |we )?(?:do not|don't) have (?:enough|sufficient|any|the) (?:\w+ )?"
    r"(?:information|context|details|data)",
    r"(?:i |we )?(?:cannot|can't|could not|couldn't|am unable to|'m unable to)"
    r" (?:determine|find (?:any|an?|the) )",
    r"it is not (?:possible to (?:answer|determine|say)|(?:stated|mentioned|specified) in)",
    r"no (?:\w+ )?(?:information|answer|mention|details) (?:is |was |were |are |can be |could be )?"
    r"(?:found|given|provided|available|about|on|regarding|in)\b",
    r"not (?:enough|sufficient) (?:information|context)",
    r"ich (?:habe|verfüge|besitze)\b[^.]{0,40}\b(?:keine|nicht genügend|nicht genug|nicht ausreichend)",
    r"ich (?:weiß|weiss) (?:es |das )?nicht",
    r"ich kann\b[^.]{0,60}\bnicht (?:beantworten|finden|sagen)",
    r"(?:die )?antwort\b[^.]{0,60}\bnicht (?:gefunden|enthalten|vorhanden)",
    r"(?:der|die|das|den|im|in den|in der)\b[^.]{0,30}"
    r"\b(?:kontext|texte?n?|informationen|passagen|quellen|dokumente?n?)\b"
    r"[^.]{0,60}\b(?:keine|nicht|kein)\b",
    r"es (?:gibt|liegen|sind)\b[^.]{0,30}\b(?:keine|nicht genügend|nicht genug)\b[^.]{0,20}"
    r"(?:informationen|angaben)",
    r"je (?:n'ai pas|ne dispose pas|ne sais pas|ne peux pas|ne trouve pas)\b",
    r"(?:la )?réponse (?:n'a pas été trouvée|n'est pas|est introuvable)",
    r"aucune (?:information|réponse)\b",
    r"(?:le|les|la)\b[^.]{0,30}\b(?:contexte|textes?|passages|sources|documents|extraits|contenu)\b[^.]{0,20}\bne\b"
    r"[^.]{0,40}\bpas\b",
    r"il n'y a pas (?:assez|suffisamment) d",
    r"no (?:tengo|dispongo de|cuento con|hay)\b[^.]{0,20}\b(?:información|respuesta|datos)",
    r"no (?:se encontró|se encuentra|encuentro|puedo responder|lo sé|sé)\b",
    r"(?:la )?respuesta no (?:se|está|fue)\b",
    r"(?:el|los|la|las)\b[^.]{0,30}\b(?:contexto|textos?|pasajes|fuentes|documentos|contenido)\b[^.]{0,20} no"
    r" (?:contiene|menciona|proporciona|incluye|dice|indica|especifica)",
)
_CANNOT = re.compile("|".join(f"(?:{phrase})" for phrase in _PHRASES))
_UNSPACED = re.compile(
    r"(?:很?抱歉|对不起|對不起|很?遗憾)|我(?:没有|沒有|无法|無法|不知道)|(?:根据|根據)[^。]{0,20}(?:无法|無法|没有|沒有|未)"
    r"|(?:无法|無法)(?:回答|确定|找到)|没有(?:足够|找到|提供|相关)"
    r"|[^。]{0,20}(?:文本|内容|资料|上下文|文档|信息)[^。]{0,8}(?:未|没有|沒有)(?:找到|提及|提到|包含|提供)"
    r"|未(?:找到|提及|提供)|申し訳|すみません|わかりません|分かりません"
    r"|[^。]{0,40}(?:情報|回答|答え|記載|記述)[^。]{0,12}(?:ありません|見つかりません|含まれていません|不足|できません)"
)
_OF_SOURCES = re.compile(
    r"(?:the|der|die|das|im|le|les|la|el|los|las|in the)\b[^.,]{0,30}?"
    r"\b(?:context|content|text|passages|blocks|sources"
    r"|documents|kontext|texte?|passagen|quellen|dokumente?|contexte|contenu|contexto|textos?|fuentes|documentos)\b"
)
# What a refusal may begin with, by its first words.
_OPENERS = words_in(
    """i i'm we sorry answer information insufficient not no there unfortunately it leider ich antwort es je
    désolé réponse aucune il lo respuesta malheureusement lamentablemente based
    according apologies none unable"""
)
_ARTICLES = words_in("the an der die das den im in le la les el los las")
_SUBJECTS = words_in(
    """answer information provided given context content text passages blocks sources documents document
    passage question available kontext text texte antwort bereitgestellten angegebenen gegebenen vorliegenden
    der den quellen dokumente informationen contexte réponse texte passages contexto texto textos respuesta
    información documentos pasajes fuentes"""
)
_UNSPACED_OPENERS = "抱对對很我根无無没沒未申す情回答わ分提本文上该在"
_BUT = re.compile(
    r"\b(?:but|however|although|though|aber|jedoch|allerdings|mais|cependant|pero)\b|[;:]\s", re.IGNORECASE
)
_QUOTES = "\"'*_ \n\t"


def refuses(sentence: str) -> bool:
    """Whether the sentence, its markers taken out, says that the passages do not tell."""
    said = _said(sentence)
    if says_not_found(said) or _UNSPACED.match(said):
        return True
    lead_in = _LEAD_IN.match(said)
    said = said[lead_in.end() :] if lead_in else said
    return bool(_CANNOT.match(said)) or (lead_in is not None and says_not_found(said))


def declines(refusal: str) -> bool:
    """Whether a refusal at a reply's start is one of the model, and speaks for all of the reply.

    That the context does not mention a thing may be said before what it does mention.
    """
    return not _OF_SOURCES.match(_said(refusal))


def goes_on(refusal: str) -> bool:
    """Whether more than a refusal is said: "The passages do not say how, but the tower has 120 steps"."""
    said = _said(refusal)
    lead_in = _LEAD_IN.match(said)
    return _BUT.search(said, lead_in.end() if lead_in else 0) is not None


def could_refuse(beginning: str) -> bool:
    """Whether a reply that begins so, perhaps in the middle of a word, may become a refusal."""
    words = [word.rstrip(",.:;") for word in beginning[:80].replace("’", "'").lower().lstrip(_QUOTES).split()]
    if not words or words[0][:1] in _UNSPACED_OPENERS:
        return True
    first = words[0]
    if len(words) == 1:
        return any(opener.startswith(first) for opener in _OPENERS | _ARTICLES)
    if first not in _ARTICLES:
        return first in _OPENERS
    return words[1] in _SUBJECTS or (len(words) == 2 and any(one.startswith(words[1]) for one in _SUBJECTS))


def _said(sentence: str) -> str:
    return " ".join(sentence[:400].replace("’", "'").lower().split()).lstrip(_QUOTES)
