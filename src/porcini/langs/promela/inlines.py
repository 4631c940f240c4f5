"""From words to what the grammar reads: inlines expanded, formulas taken out, separators made regular."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lark import Token

from porcini.core.errors import InputError
from porcini.langs.promela.preprocess import DEEPEST_INLINE, Preprocessor, arguments
from porcini.langs.promela.syntax import Ltl
from porcini.langs.promela.words import Word, bad, words, wrong

# Labels

_BEFORE_STATEMENT = frozenset({";", "->", "::", "{", "}", "fi", "od", "else"})

_ENDS_OPERAND = frozenset({")", "]", "++", "--"})
_BEFORE_NAME = frozenset({"unsigned", "goto"})


def labels(stream: Sequence[Word], proctypes: Iterable[str] = ()) -> set[int]:
    """Where a label is defined: a name at the start of a statement, before a colon. One of the proctypes that are
    known by then is none: `p:x == 1` asks for the `x` of `p`."""
    found: set[int] = set()
    depth, known = 0, set(proctypes)
    for i, word in enumerate(stream):
        depth += (word.text in ("(", "[")) - (word.text in (")", "]"))
        if depth or word.kind != "NAME" or word.text in KEYWORDS:
            continue
        before = stream[i - 1]
        if i and before.text in PROCTYPE:
            known.add(word.text)
        if word.text in known:
            continue
        starts = i == 0 or before.text in _BEFORE_STATEMENT or i - 2 in found
        if word.fresh and before.text not in _BEFORE_NAME:
            starts = starts or before.kind != "OP" or before.text in _ENDS_OPERAND
        if starts and i + 1 < len(stream) and stream[i + 1].text == ":":
            found.add(i)
    return found


PROCTYPE = ("proctype", "D_proctype")

# Inlines and formulas


@dataclass(slots=True)
class _Inline:
    parameters: tuple[str, ...]
    body: list[Word]
    labels: frozenset[str]


class Inlines:
    """Expands inlines at their calls, where SPIN does, and collects the formulas of `ltl` blocks."""

    def __init__(self, preprocessor: Preprocessor) -> None:
        self.preprocessor = preprocessor
        self.known: dict[str, _Inline] = {}
        self.proctypes: set[str] = set()
        self.formulas: list[Ltl] = []
        self.expansions = 0
        self.unnamed = 0

    def top(self, stream: list[Word]) -> list[Word]:
        """The words of a whole program."""
        todo, depth = deque(stream), 0
        out: list[Word] = []
        while todo:
            word = todo.popleft()
            depth += (word.text == "{") - (word.text == "}")
            if out and out[-1].text in PROCTYPE:
                self.proctypes.add(word.text)
            if depth == 0 and word.text == "inline" and word.kind == "NAME":
                self._define(word, todo)
            elif depth == 0 and word.text == "ltl" and word.kind == "NAME":
                self._formula(word, todo)
            elif self._is_call(word, todo):
                target = _assigned(out)
                out += self._call(word, arguments(word, todo), (), target)
            elif (chosen := _selected(word, todo)) is not None:
                self.preprocessor.charge(len(chosen), word)
                out += chosen
            else:
                out.append(word)
        return out

    def _define(self, word: Word, todo: deque[Word]) -> None:
        if len(todo) < 2 or todo[0].kind != "NAME" or todo[1].text != "(":
            raise wrong(word, "an inline is written `inline name(parameters) { statements }`")
        name = todo.popleft()
        given = arguments(name, todo)
        parameters = () if given == [[]] else tuple(part[0].text if len(part) == 1 else "" for part in given)
        if not all(p.isidentifier() for p in parameters):
            raise wrong(name, f"the parameters of `{name.text}` are not names between commas")
        if name.text in self.known:
            raise wrong(name, f"a second inline `{name.text}`")
        body = _braced(name, todo)
        own = {body[i].text for i in labels(body, self.proctypes)} - set(parameters)
        self.known[name.text] = _Inline(parameters, body, frozenset(own))

    def _formula(self, word: Word, todo: deque[Word]) -> None:
        if todo and todo[0].kind == "NAME":
            name = todo.popleft().text
        else:
            name = f"ltl_{self.unnamed}"
            self.unnamed += 1
        body = _braced(word, todo)
        if body and body[-1].text == ";":
            body.pop()
        if not body:
            raise wrong(word, "`ltl` without a formula")
        if any(formula.name == name for formula in self.formulas):
            raise wrong(word, f"a second formula `{name}`")
        for part in body:
            if part.kind == "BAD":
                raise bad(part)
        self.formulas.append(Ltl(body[0].place, name, _laid_out(body)))

    def _is_call(self, word: Word, todo: deque[Word]) -> bool:
        return word.kind == "NAME" and word.text in self.known and bool(todo) and todo[0].text == "("

    def _call(
        self, word: Word, given: list[list[Word]], outer: tuple[str, ...], returned: Sequence[Word] = ()
    ) -> list[Word]:
        """The body in braces. Its own labels get new names, or a second call would define them again. `return e`
        assigns to what the call is assigned to, and no more than that: the body goes on."""
        inline = self.known[word.text]
        if word.text in outer:
            raise wrong(word, f"inline `{word.text}` calls itself")
        if len(outer) >= DEEPEST_INLINE:
            raise wrong(word, f"inlines nested more than {DEEPEST_INLINE} deep")
        if given == [[]]:
            given = []
        if len(given) != len(inline.parameters):
            takes = len(inline.parameters)
            raise wrong(word, f"wrong number of parameters for inline `{word.text}`: {takes}, not {len(given)}")
        bound = dict(reversed([*zip(inline.parameters, given, strict=True)]))  # of two of one name, the first
        todo: deque[Word] = deque()
        for part in inline.body:
            value = bound.get(part.text, [part]) if part.kind == "NAME" else [part]
            if part.text == "return" and returned:
                value = [*returned, part._replace(kind="OP", text="=")]
            todo.extend(each._replace(fresh=part.fresh and each is value[0]) for each in value)
            self.preprocessor.charge(1, word)
        self.preprocessor.charge(len(todo), word)
        self.expansions += 1
        number, out = self.expansions, [word._replace(kind="OP", text="{")]
        while todo:
            part = todo.popleft()
            if self._is_call(part, todo):
                target = _assigned(out)
                out += self._call(part, arguments(part, todo), (*outer, word.text), target)
            else:
                out.append(part)
        out.append(word._replace(kind="OP", text="}"))
        defined = labels(out, self.proctypes) if inline.labels else ()
        for i, part in enumerate(out):
            if part.text in inline.labels - self.proctypes and (i in defined or out[i - 1].text == "goto"):
                out[i] = part._replace(text=f"{part.text}#{number}")
        return out


_MOST_OPTIONS = 33
_MOST_DIGITS = 10
"""Longer numbers fit no variable: the grammar refuses them."""


def _selected(word: Word, todo: deque[Word]) -> list[Word] | None:
    """`select (i : 1 .. 3)` as SPIN reads it outside of inlines: numbers as they stand, on one line with the
    bracket, for a name without an underscore, become an `if` with an option for each, or a loop where these are
    many. All others are left to the grammar."""
    if word.text != "select" or word.kind != "NAME" or len(todo) < 7:
        return None
    opens, name, colon, low, dots, high, closes = (todo[i] for i in range(7))
    punctuation = "".join(part.text for part in (opens, colon, dots, closes))
    numbers = low.kind == high.kind == "NUMBER" and max(len(low.text), len(high.text)) < _MOST_DIGITS
    line = not any(part.fresh for part in (name, colon, low, dots, high, closes))
    if punctuation != "(:..)" or not numbers or not line or not (name.kind == "NAME" and name.text.isalnum()):
        return None
    for _ in range(7):
        todo.popleft()
    first, last = int(low.text), int(high.text)
    if first > last:
        raise wrong(word, "`select` from an empty range")
    if last - first < _MOST_OPTIONS:
        options = " ".join(f":: {name.text} = {value}" for value in range(first, last + 1))
        text = f"if {options} fi"
    else:
        text = f"{name.text} = {first}; do :: ({name.text} < {last}) -> {name.text}++ :: break od"
    found = [part._replace(place=word.place, origin=word.origin, fresh=False) for part in words(text)]
    return [found[0]._replace(fresh=word.fresh), *found[1:]]


def _assigned(before: list[Word]) -> list[Word]:
    """Take `a[i].x =` off the end, if the call that follows is assigned: the words of the target."""
    if not before or before[-1].text != "=":
        return []
    at, depth = len(before) - 1, 0
    while at > 0:
        at -= 1
        depth += (before[at].text == "]") - (before[at].text == "[")
        if depth == 0 and before[at].kind == "NAME" and (at == 0 or before[at - 1].text != "."):
            break
    target = before[at:-1]
    del before[at:]
    return target


def _braced(word: Word, todo: deque[Word]) -> list[Word]:
    """Take `{ ... }` off the front: the words between."""
    if not todo or todo[0].text != "{":
        raise wrong(todo[0] if todo else word, f"`{word.text}` needs `{{` after it")
    todo.popleft()
    depth = 1
    body: list[Word] = []
    while todo:
        part = todo.popleft()
        depth += (part.text == "{") - (part.text == "}")
        if depth == 0:
            return body
        body.append(part)
    raise wrong(word, f"the braces of `{word.text}` are not closed")


# Tokens

_PLAIN_KEYWORDS = """
    active assert atomic break chan d_step do else enabled eval fi for get_priority goto if in init inline ltl
    mtype never np_ od of printf printm priority proctype provided run select set_priority timeout typedef unless
    unsigned xr xs
"""
KEYWORDS = {
    **{word: word.upper() for word in _PLAIN_KEYWORDS.split()},
    **dict.fromkeys(("bit", "bool", "byte", "short", "int", "pid"), "TYPE"),
    **dict.fromkeys(("len", "empty", "full", "nempty", "nfull"), "ASK"),
    **dict.fromkeys(("hidden", "local", "show"), "SEEN"),
    **dict.fromkeys(("true", "false", "skip"), "CONST"),
    **dict.fromkeys(("trace", "notrace"), "TRACE"),
    "D_proctype": "PROCTYPE",
}
_OUTSIDE_WORDS = """
    c_code c_expr c_decl c_state c_track pc_value STDIN
"""
_OUTSIDE = frozenset(_OUTSIDE_WORDS.split())
_OPERATORS = {
    ";": "SEP", "->": "ARROW", "::": "OPTION", ":": "COLON", ",": "COMMA", ".": "DOT", "..": "UPTO", "@": "AT",
    "(": "OPEN", ")": "CLOSE", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE", "=": "ASSIGN",
    "++": "STEP", "--": "STEP", "!": "BANG", "!!": "SORTED", "?": "ASKS", "??": "ANYWHERE",
    "||": "OR", "&&": "AND", "|": "BAR", "^": "HAT", "&": "ET", "==": "EQUAL", "!=": "EQUAL",
    "<": "LESS", ">": "MORE", "<=": "ORDER", ">=": "ORDER", "<<": "SHIFT", ">>": "SHIFT",
    "+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "TIMES", "%": "TIMES", "~": "TILDE",
}  # fmt: skip
_ENDS = frozenset({"SEP", "RBRACE", "FI", "OD", "OPTION", "UNLESS"})
"""Before these no separator is wanted."""
_FINISHED = {
    "NAME",
    "NUMBER",
    "CHAR",
    "CONST",
    "CLOSE",
    "RSQB",
    "RBRACE",
    "STEP",
    "FI",
    "OD",
    "BREAK",
    "TIMEOUT",
    "NP_",
}
"""After these a statement can be complete, and then the end of the line ends it."""
_BEGINS = {"NAME", "NUMBER", "CHAR", "CONST", "OPEN", "LBRACE", "BANG", "MINUS", "TILDE"} | (
    set(KEYWORDS.values()) - {"FI", "OD", "OF", "IN", "UNLESS", "PRIORITY", "PROVIDED"}
)
"""SPIN refuses a line that begins with another operator; here it goes on with the statement."""


def outside(word: Word) -> InputError:
    return wrong(word, f"`{word.text}` is outside the subset of Promela that Porcini runs")


def _kind(word: Word) -> str:
    if word.kind == "BAD":
        raise bad(word)
    if word.kind == "REAL":
        raise wrong(word, "numbers with a decimal point are outside the subset of Promela that Porcini runs")
    if word.kind == "NAME":
        if word.text == "return":
            raise wrong(word, "`return` is for an inline whose value is assigned: `x = f()`")
        if word.text in _OUTSIDE:
            raise outside(word)
        return KEYWORDS.get(word.text, "NAME")
    return _OPERATORS.get(word.text, "OTHER") if word.kind == "OP" else word.kind


def tokens(stream: Sequence[Word], proctypes: Collection[str] | None, alone: bool = False) -> Iterator[Token]:
    """What the grammar reads; `start_pos` is the index of the word.

    Separators are made regular here, as SPIN does: one where it is left out after a block, an `else` or a line,
    none twice, none before the end of a sequence. `proctypes` tells `p:x` from the end of `(a -> p : x)`; when
    it is None, whatever could be `p:x` is. An expression that stands `alone` has no statements.
    """

    def token(kind: str, at: int, text: str | None = None) -> Token:
        word = stream[at]
        return Token(kind, word.text if text is None else text, at, word.place.line, word.place.column)

    defined = set() if alone else labels(stream)
    closing = _closing(stream)
    types = {word.text for before, word in pairwise(stream) if before.text == "typedef"}
    braces: list[bool] = []  # open ones: do they hold statements?
    arrows = [0]  # for each open parenthesis: conditionals that still wait for their colon
    separator: Token | None = None
    last, header = "", 0
    for i, word in enumerate(stream):
        if i - 1 in defined:  # the colon of a label
            continue
        kind = _kind(word)
        if kind == "IN" and header != len(arrows):
            kind = "NAME"  # a channel is often called so; SPIN has no quarrel with it
        if kind == "ARROW" and len(arrows) == 1 and not alone:
            kind = "SEP"
        if kind == "SEP" and last == "SEP":
            continue
        if kind == "SEP" and len(arrows) == 1:
            separator = separator or token("SEP", i, ";")
            continue
        if separator is not None:
            if kind not in _ENDS:
                yield separator
                last = "SEP"
            separator = None
        elif kind not in _ENDS and (
            last in ("BLOCK", "ELSE")
            or (word.fresh and last in _FINISHED and kind in _BEGINS and any(braces) and len(arrows) == 1)
        ):
            yield token("SEP", i, ";")
        last = kind
        if kind in ("OPEN", "LSQB"):
            arrows.append(0)
            if i > 0 and stream[i - 1].text == "for":
                header = len(arrows)
        elif kind in ("CLOSE", "RSQB") and len(arrows) > 1:
            if len(arrows) == header:  # the body of a `for` may begin on the next line
                last, header = "", 0
            arrows.pop()
        elif kind in ("ARROW", "COLON"):
            arrows[-1] += 1 if kind == "ARROW" else -1
        elif kind == "LBRACE":
            braces.append(i > 0 and stream[i - 1].text not in ("of", "=", "mtype"))
        elif kind == "RBRACE" and braces:
            statements = braces.pop()
            last = "BLOCK" if statements and braces else "RBRACE"
        elif kind == "NAME" and i in defined:
            kind = last = "LABEL"
        elif kind == "NAME":
            end = closing.get(i + 1, i) + 1
            after = stream[end].text if end < len(stream) else ""
            remote = arrows[-1] <= 0 if proctypes is None else word.text in proctypes
            if word.text in types:
                last = "TYPE"
            if after == "@" or (after == ":" and remote):
                kind = "PNAME"
                arrows[-1] += after == ":"  # its own colon belongs to no conditional
        yield token(kind, i)
    if separator is not None:
        yield separator


def _closing(stream: Sequence[Word]) -> dict[int, int]:
    """The closing bracket for each `[`."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for i, word in enumerate(stream):
        if word.text == "[" and word.kind == "OP":
            opened.append(i)
        elif word.text == "]" and word.kind == "OP" and opened:
            found[opened.pop()] = i
    return found


_WORDS = re.compile(r"\w\w")
"""Two words that would become one."""


def _laid_out(body: Sequence[Word]) -> str:
    """Words as a text in which each stands where it did, so that places in it are right. A macro's words all have
    one place, and are set apart by blanks.
    """
    text, line, column = "", body[0].place.line, body[0].place.column
    for word in body:
        if word.place.line > line:
            text += "\n" * (word.place.line - line)
            line, column = word.place.line, 1
        gap = word.place.column - column if word.place.line == line else -1
        blanks = gap if gap > 0 or (gap == 0 and not _WORDS.search(text[-1:] + word.text[:1])) else 1
        text += " " * blanks + word.text
        column += blanks + len(word.text)
    return text
