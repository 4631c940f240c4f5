"""`#` directives and macros, as C's preprocessor does them for SPIN.

Nothing is joined to text again. A macro's words have the place where the macro is used, and the words of an
included file that of the `#include`.
"""

from __future__ import annotations

import operator
import posixpath
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from porcini.core.errors import InputError, Place
from porcini.langs.promela.words import Word, lines, words, wrong

MOST_WORDS = 500_000
"""In all: read, and made by macros and inlines."""
LONGEST_WORD = 10_000
"""In characters, of words that `#` and `##` make: they may double from one macro to the next."""
DEEPEST_MACRO = 200
DEEPEST_ARGUMENT = 50
DEEPEST_INLINE = 100
DEEPEST_INCLUDE = 20
LARGEST_INCLUDE = 5_000_000
_INCLUDE_COSTS = 200  # in words, so that files which include each other again and again come to an end

Includer = Callable[[str], str]


# Included files


def includer(folder: Path) -> Includer:
    """Read the files that a model includes, from its folder or from below the one that we are in."""

    def include(name: str) -> str:
        if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
            raise InputError(f"`{name}` is an absolute path", hint="a model includes files of its own folder")
        try:
            home = folder.resolve()
            path = (home / name).resolve()
            if not path.is_relative_to(home) and not path.is_relative_to(Path.cwd().resolve()):
                hint = "a folder that both are in can be made the current one"
                raise InputError(f"`{name}` is outside the model's folder", hint=hint)
            if not path.is_file():
                raise InputError(f"no file `{name}` in the model's folder")
            if path.stat().st_size > LARGEST_INCLUDE:
                raise InputError(f"`{name}` is larger than {LARGEST_INCLUDE} bytes")
            return _decoded(path.read_bytes(), name)
        except (OSError, ValueError, RuntimeError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise InputError(f"`{name}` cannot be read: {reason}") from None

    return include


def _decoded(raw: bytes, name: str) -> str:
    """As a model itself: what is not UTF-8 is Latin-1, and there is no NUL in a text."""
    if b"\0" in raw:
        raise InputError(f"`{name}` is not text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _refuse(name: str) -> str:
    raise InputError(f"`{name}` cannot be included here", hint="only a model in a file can include others")


# Directives and macros


@dataclass(slots=True)
class _Macro:
    parameters: tuple[str, ...] | None
    body: list[Word]


@dataclass(slots=True)
class _Branch:
    """One `#if`: whether its present part is read, and whether one has been."""

    opened: Word
    outer: bool
    active: bool
    taken: bool
    last: bool = False


_NOTE = re.compile(r"//@\s*independent\s+([A-Za-z_]\w*)\s+([A-Za-z_]\w*)\s*", re.ASCII)
_IGNORED = frozenset({"pragma", "line", "ident", "warning"})


class Preprocessor:
    """`file` reads a text; `out` has its words afterwards, with no directive, comment or macro among them."""

    def __init__(self, include: Includer | None = None) -> None:
        self.include = include or _refuse
        self.macros: dict[str, _Macro] = {}
        self.read = 0
        self.out: list[Word] = []
        self.independent: list[tuple[str, str, Place]] = []

    def charge(self, count: int, word: Word) -> None:
        self.read += count
        if self.read > MOST_WORDS:
            raise wrong(word, f"more than {MOST_WORDS} words", "includes, macros and inlines are counted expanded")

    def file(self, text: str, at: Place | None = None, name: str = "", depth: int = 0) -> None:
        branches: list[_Branch] = []
        pending: list[Word] = []
        for line in lines(words(text, at, name)):
            if not line:
                continue
            self.charge(len(line), line[0])
            active = branches[-1].active if branches else True
            if line[0].text == "#":
                directive = [word for word in line[1:] if word.kind != "NOTE"]
                if not directive or self._conditional(line[0], directive, branches) or not active:
                    continue
                self._flush(pending)
                self._directive(line[0], directive, name, depth)
            elif active:
                for word in line:
                    if word.kind == "NOTE":
                        self._note(word)
                    else:
                        pending.append(word)
        if branches:
            raise wrong(branches[-1].opened, f"`#{branches[-1].opened.text}` without `#endif`")
        self._flush(pending)

    def _flush(self, pending: list[Word]) -> None:
        self.out += self.expand(pending)
        pending.clear()

    def _note(self, word: Word) -> None:
        found = _NOTE.fullmatch(word.text)
        if found is None:
            raise wrong(word, f"unknown note `{word.text.strip()}`", "the known form is `//@ independent a b`")
        self.independent.append((found[1], found[2], word.place))

    def _conditional(self, hash_: Word, line: list[Word], branches: list[_Branch]) -> bool:
        """Whether it is one of `#if`, `#else` and the like; these count in a part that is left out, too."""
        word = line[0]
        if word.text in ("if", "ifdef", "ifndef"):
            outer = branches[-1].active if branches else True
            holds = outer and self._holds(word, line[1:])
            branches.append(_Branch(word, outer, holds, holds))
            return True
        if word.text not in ("elif", "else", "endif"):
            return False
        if not branches:
            raise wrong(hash_, f"`#{word.text}` without `#if`")
        branch = branches[-1]
        if word.text == "endif":
            branches.pop()
            return True
        if branch.last:
            raise wrong(hash_, f"`#{word.text}` after `#else`")
        branch.last = word.text == "else"
        if branch.taken or not branch.outer:
            branch.active = False
        else:
            branch.active = branch.taken = branch.last or self._holds(word, line[1:])
        return True

    def _holds(self, word: Word, rest: list[Word]) -> bool:
        if word.text in ("ifdef", "ifndef"):
            if not rest or rest[0].kind != "NAME":
                raise wrong(word, f"`#{word.text}` needs a name")
            return (rest[0].text in self.macros) == (word.text == "ifdef")
        known: list[Word] = []
        at = 0
        while at < len(rest):
            if rest[at].text == "defined":
                names = [w for w in rest[at + 1 : at + 4] if w.text != "("][:1]
                if not names or names[0].kind != "NAME":
                    raise wrong(rest[at], "`defined` needs a name")
                value = "1" if names[0].text in self.macros else "0"
                known.append(rest[at]._replace(kind="NUMBER", text=value))
                at += 4 if rest[at + 1].text == "(" else 2
            else:
                known.append(rest[at])
                at += 1
        return _Calculation(word, self.expand(known)).result() != 0

    def _directive(self, hash_: Word, line: list[Word], name: str, depth: int) -> None:
        word, rest = line[0], line[1:]
        if word.text == "define":
            self._define(word, rest)
        elif word.text == "undef":
            if not rest or rest[0].kind != "NAME":
                raise wrong(word, "`#undef` needs a name")
            self.macros.pop(rest[0].text, None)
        elif word.text == "include":
            self._include(hash_, rest, name, depth)
        elif word.text == "error":
            raise wrong(word, "#error " + " ".join(w.text for w in rest))
        elif word.kind != "NUMBER" and word.text not in _IGNORED:
            raise wrong(word, f"unknown directive `#{word.text}`")

    def _include(self, hash_: Word, rest: list[Word], name: str, depth: int) -> None:
        if len(rest) != 1 or rest[0].kind != "STRING":
            raise wrong(hash_, '`#include` needs a file\'s name: `#include "file"`')
        if depth >= DEEPEST_INCLUDE:
            raise wrong(hash_, f"files included more than {DEEPEST_INCLUDE} deep")
        self.charge(_INCLUDE_COSTS, hash_)
        target = posixpath.join(posixpath.dirname(name), rest[0].text[1:-1])
        try:
            text = self.include(target)
        except InputError as problem:
            raise wrong(rest[0], problem.message, problem.hint) from None
        self.file(text, hash_.place, target, depth + 1)

    def _define(self, word: Word, rest: list[Word]) -> None:
        if not rest or rest[0].kind != "NAME":
            raise wrong(word, "`#define` needs a name")
        name, body = rest[0], rest[1:]
        parameters: tuple[str, ...] | None = None
        if body and body[0].text == "(" and body[0].glued:
            end = next((i for i, w in enumerate(body) if w.text == ")"), 0)
            inside = _variadic(body[1:end])
            parameters = tuple(w.text for w in inside[::2])
            commas = all(w.text == "," for w in inside[1::2]) and len(inside) % 2 == (1 if inside else 0)
            if not end or not commas or any(w.kind != "NAME" for w in inside[::2]):
                raise wrong(name, f"the parameters of `{name.text}` are not names between commas")
            if len(set(parameters)) < len(parameters):
                raise wrong(name, f"two parameters of `{name.text}` have one name")
            body = body[end + 1 :]
        for at, part in enumerate(body):
            if part.text == "##" and at in (0, len(body) - 1):
                raise wrong(part, "`##` stands between two words")
            after = body[at + 1].text if at + 1 < len(body) else ""
            if part.text == "#" and parameters is not None and after not in parameters:
                raise wrong(part, "`#` stands before a parameter")
        self.macros[name.text] = _Macro(parameters, body)

    def expand(self, stream: list[Word], depth: int = 0) -> list[Word]:
        """Replace macros until none is left. A macro is not replaced within what it stands for itself."""
        todo, out = deque(stream), []
        while todo:
            word = todo.popleft()
            macro = self.macros.get(word.text) if word.kind == "NAME" and word.text not in word.hidden else None
            if macro is None or (macro.parameters is not None and not (todo and todo[0].text == "(")):
                out.append(word)
                continue
            if len(word.hidden) >= DEEPEST_MACRO or depth >= DEEPEST_ARGUMENT:
                raise wrong(word, "macros nested too deep")
            hidden = word.hidden | {word.text}
            if macro.parameters is None:
                made = _joined([_made(part, word, hidden) for part in macro.body])
            else:
                made = self._apply(word, macro.parameters, macro.body, arguments(word, todo), hidden, depth)
            self.charge(len(made) + 1, word)
            if made and word.fresh:
                made[0] = made[0]._replace(fresh=True)
            todo.extendleft(reversed(made))
        return out

    def _apply(
        self,
        word: Word,
        parameters: tuple[str, ...],
        body: list[Word],
        given: list[list[Word]],
        hidden: frozenset[str],
        depth: int,
    ) -> list[Word]:
        if not parameters and given == [[]]:
            given = []
        if parameters and parameters[-1] == _REST:
            given = _gathered(given, len(parameters) - 1)
        if len(given) != len(parameters):
            raise wrong(word, f"macro `{word.text}` takes {len(parameters)} arguments, not {len(given)}")
        raw = dict(zip(parameters, given, strict=True))
        bound = {name: self.expand(value, depth + 1) for name, value in raw.items()}
        made: list[Word] = []
        for at, part in enumerate(body):
            before, after = body[at - 1].text if at else "", body[at + 1].text if at + 1 < len(body) else ""
            if part.kind != "NAME" or part.text not in raw:
                if part.text != "#":
                    made.append(_made(part, word, hidden))
            elif before == "#":
                made.append(_made(_quoted(part, raw[part.text]), word, hidden))
            else:  # what is joined to another word by `##` is not replaced first
                value = (raw[part.text] or [_nothing(part)]) if "##" in (before, after) else bound[part.text]
                self.charge(len(value), word)
                made += [each._replace(hidden=each.hidden | hidden, fresh=False) for each in value]
        return _joined(made)


def _made(part: Word, word: Word, hidden: frozenset[str]) -> Word:
    """A word of a macro's body, for the use of the macro at `word`; a macro is one line."""
    return part._replace(place=word.place, origin=word.origin, hidden=hidden, fresh=False)


# `#`, `##` and `...`

_REST = "__VA_ARGS__"


def _variadic(inside: list[Word]) -> list[Word]:
    """The parameters of a macro, with a name for `...`, which comes as two words."""
    if [word.text for word in inside[-2:]] == ["..", "."]:
        return [*inside[:-2], inside[-2]._replace(kind="NAME", text=_REST)]
    return inside


def _gathered(given: list[list[Word]], named: int) -> list[list[Word]]:
    """The arguments that `...` stands for as one, with the commas between them."""
    rest: list[Word] = []
    for number, part in enumerate(given[named:]):
        if number and part:
            rest.append(part[0]._replace(kind="OP", text=","))
        rest += part
    return [*given[:named], rest]


def _quoted(at: Word, given: list[Word]) -> Word:
    """The text of an argument, between quotes."""
    text = ""
    for number, word in enumerate(given):
        spelled = (
            word.text.replace("\\", "\\\\").replace('"', '\\"') if word.kind in ("STRING", "CHAR") else word.text
        )
        text += spelled if word.glued or not number else f" {spelled}"
    return _checked_length(at._replace(kind="STRING", text=f'"{text}"'))


def _checked_length(word: Word) -> Word:
    if len(word.text) > LONGEST_WORD:
        raise wrong(word, f"a macro makes a word of more than {LONGEST_WORD} characters")
    return word


def _nothing(at: Word) -> Word:
    return at._replace(kind="NOTHING", text="")


def _joined(made: list[Word]) -> list[Word]:
    """Make one word of two that stand around `##`."""
    if all(word.text != "##" for word in made):
        return made
    out: list[Word] = []
    todo = deque(made)
    while todo:
        word = todo.popleft()
        if word.text == "##" and out and todo:
            out.append(_one_word(out.pop(), todo.popleft()))
        else:
            out.append(word)
    return [word for word in out if word.kind != "NOTHING"]


def _one_word(left: Word, right: Word) -> Word:
    if not left.text or not right.text:
        return left if left.text else right
    found = list(words(left.text + right.text))
    if len(found) != 1:
        raise wrong(left, f"`{left.text}` and `{right.text}` do not make one word")
    return _checked_length(left._replace(kind=found[0].kind, text=found[0].text))


_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def arguments(word: Word, todo: deque[Word]) -> list[list[Word]]:
    """Take `( a, b )` off the front: the words of each argument; brackets hide commas."""
    todo.popleft()
    depth = 0
    given: list[list[Word]] = [[]]
    while todo:
        part = todo.popleft()
        if part.text == ")" and depth == 0:
            return given
        if part.text == "," and depth == 0:
            given.append([])
            continue
        depth += (part.text in _OPEN) - (part.text in _CLOSE)
        given[-1].append(part)
    raise wrong(word, f"the arguments of `{word.text}` are not closed")


_LEVELS: tuple[frozenset[str], ...] = tuple(
    frozenset(level.split())
    for level in ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
)


_SIMPLE: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "+": operator.add,
    "-": operator.sub, "*": operator.mul, "<<": operator.lshift, ">>": operator.rshift,
    "||": lambda left, right: left != 0 or right != 0, "&&": lambda left, right: left != 0 and right != 0,
}  # fmt: skip


def calculate(op: str, left: int, right: int) -> int | None:
    """As C does, in 64 bits; None where C does not say."""
    if op in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op == "/" else left - quotient * right
    if op in ("<<", ">>") and not 0 <= right < 64:
        return None
    return (int(_SIMPLE[op](left, right)) + 2**63) % 2**64 - 2**63


class _Calculation:
    """The value of an `#if`'s expression. Names that are left are 0."""

    def __init__(self, word: Word, stream: Sequence[Word]) -> None:
        self.word = word
        self.todo = deque(stream)
        self.depth = 0

    def result(self) -> int:
        value = self.binary(0)
        if self.todo:
            raise wrong(self.todo[0], f"unexpected {self.todo[0].text!r} in `#{self.word.text}`")
        return value

    def binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.todo and self.todo[0].text in _LEVELS[level]:
            op = self.todo.popleft()
            left = self.apply(op, left, self.binary(level + 1))
        return left

    def apply(self, op: Word, left: int, right: int) -> int:
        value = calculate(op.text, left, right)
        if value is None:
            raise wrong(op, f"no value for {left} {op.text} {right} in `#{self.word.text}`")
        return value

    def unary(self) -> int:
        self.depth += 1
        if not self.todo or self.depth > 30:
            problem = "ends too early" if not self.todo else "is nested too deep"
            raise wrong(self.word, f"the expression of `#{self.word.text}` {problem}")
        word = self.todo.popleft()
        if word.text == "(":
            value = self.binary(0)
            if not self.todo or self.todo.popleft().text != ")":
                raise wrong(word, "`(` that is not closed")
        elif word.text in ("!", "-", "+", "~"):
            operand = self.unary()
            value = {"!": int(operand == 0), "-": -operand, "+": operand, "~": ~operand}[word.text]
        elif word.kind == "NAME" or (word.kind == "NUMBER" and len(word.text) < 19):
            value = int(word.text) if word.kind == "NUMBER" else 0
        else:
            raise wrong(word, f"unexpected {word.text!r} in `#{self.word.text}`")
        self.depth -= 1
        return value
