"""Draws theories."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from conformance.theories.theory import INSTRUCTIONS, Code, Step, Syntax, Theory

_OURS = """
    MThread MState enabled ready moved Way WayList noWay Ways Offers Offered Now Future Known Sure Going Clash Uses
    Weight StateInfo PState ThreadList Start noInfo left-out noThread noState state MarkAmples Moved TidOf Can Next
    CanMove Disturbs Able Apart Invisible Size First Choose Try Everyone SetList noSet set Ample Sets Reached
    Length PropList noProp Watched Changes Same Views Alike View Shows Alters Whole Threads Mark Unmark Location
    Sought Access Footprint reads writes awaits anything nothing way0 way1 Sees0 at-Cell step
"""
"""Words of Porcini's generated modules."""
_LETTERS = "U T Y Z Ys F G C Us Cs Ss B O P Ps Flag Ct Then X0"
"""Its variables."""
_SIGNS = {"U", "F", "G", "O"}
"""What formulas would read otherwise, before an operator that stands between its arguments."""
FORMS = {
    "thread": ["<_|_>", "[_,_]", "{_|_}", "_runs_", "in_do_", "_'s_", "<_,_>", "[_|_]"],
    "cell": ["[_=_]", "_|->_", "<_:=_>", "[_,_]", "_holds_", "#_#_", "{_;_}"],
    "soup": ["_||_", "_,_", "_&_", "_;;_", "_in_", "_|_"],
    "seq": ["_then_", "_,_", "_;;_", "_&_", "_>>_"],
    "pair": ["_,_", "<_,_>", "[_|_]", "_'_"],
    "set": ["{_}", "<<_>>"],
    "queue": ["[_]", "|_|", "_queue"],
    "memory": ["mem_", "<_>", "{{_}}"],
    "put": ["_:=_", "put_,_", "_<-_", "[_,_]"],
    "mix": ["_*=_", "mix_,_", "_+_"],
    "await": ["_?_", "until_is_", "_,_?"],
    "avoid": ["_!?_", "unless_,_"],
    "flip": ["flip_", "_~", "[_]"],
    "add": ["add_", "{_}"],
    "push": ["_!", "push[_]"],
    "pop": ["_<=", "pop_"],
    "store": ["_@=_", "store_,_"],
    "look": ["_@?_", "look[_,_]"],
    "spawn": ["spawn_{_}", "_forks_", "fork_,_"],
    "mixed": ["_mixed_", "_,_"],
    "is": ["_is_", "is[_,_]"],
}
"""Ways to write operators around their arguments."""
FORMULAS = [
    "<> |A|",
    "[] |A|",
    "[] ~ (|A| /\\ |B|)",
    "[] (|A| -> <> |B|)",
    "<> (|A| /\\ ~ |B|)",
    "|A| U |B|",
    "<> [] |A|",
    "[] (|A| -> (|A| W |B|))",
]


_STRUCTURE = ("thread", "cell", "soup", "seq", "pair", "set", "queue", "memory")


def generate(random: Random) -> Theory:
    writer = _Writer(random)
    theory = writer.theory()
    return writer._pass_by(theory) if random.random() < 0.1 else theory


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.words, self.letters = _OURS.split(), _LETTERS.split()
        random.shuffle(self.words)
        random.shuffle(self.letters)
        own = random.random() < 0.4
        names = [self._word() if random.random() < 0.3 else n for n in ("x", "y", "z")] if own else []
        self.constants = tuple(self.letters.pop() if random.random() < 0.4 else name for name in names)
        if set(self.constants) & _SIGNS:
            self.constants = tuple(name.lower() if name in _SIGNS else name for name in self.constants)
        self.names = self.constants or ("'x", "'y", "'z")
        kinds = [kind for kind in INSTRUCTIONS if kind not in ("put", "mix")]
        self.kinds = ["put", "mix", *random.sample(kinds, random.randint(1, 4))]
        self.children = 10
        self.syntax: dict[str, Syntax] = {}

    def theory(self) -> Theory:
        random = self.random
        threads = self._threads()
        for role in (*_STRUCTURE, *self.kinds, "mixed", "is"):
            if random.random() < 0.6:
                self._draw_syntax(role)
        for role in ("nobody", "done", "over", "has"):
            if random.random() < 0.3:
                self.syntax[role] = Syntax(self._word())
        sorts = {name: self._word() for name in ("Code", "Thread", "Cell", "Conf", "Val") if random.random() < 0.2}
        names = ("I", "N", "M", "K", "L", "V", "W", "X", "A", "Q", "D", "R")
        variables = {name: self.letters.pop() for name in names if random.random() < 0.3}
        variables |= {"init": self._word()} if random.random() < 0.3 else {}
        return Theory(
            threads,
            self._formula(),
            random.choice(["closure", "single"]),
            self.syntax,
            sorts,
            variables,
            {kind: self._word() for kind in self.kinds if random.random() < 0.2},
            tuple((name, self._value()) for name in self.names[: random.randint(2, 3)]),
            self.constants,
            random.random() < 0.85,
            random.random() < 0.3,
            overloaded=random.random() < 0.3,
            sought=self._sought(),
        )

    def _word(self) -> str:
        return self.words.pop()

    def _draw_syntax(self, role: str) -> None:
        random = self.random
        if role not in FORMS or random.random() < 0.25:
            self.syntax[role] = Syntax(self._word())
            return
        form = random.choice([each for each in FORMS[role] if not self._is_taken(role, each)])
        attributes = []
        if random.random() < 0.5 and (form.startswith("_") or form.endswith("_")):
            attributes.append(f"prec {random.choice([1, 15, 29, 41, 60, 95, 121, 125])}")
        holes = form.count("_")
        if random.random() < 0.3 and role not in ("soup", "seq"):
            attributes.append(f"gather ({' '.join(random.choice('E&') for _ in range(holes))})")
        if random.random() < 0.2 and role != "mixed":
            attributes.append('metadata "a, [b] (c"')
        if role == "pair" and random.random() < 0.3:
            attributes.append("comm")
        self.syntax[role] = Syntax(form, " ".join(attributes))

    def _is_taken(self, role: str, form: str) -> bool:
        """Has a container of Maude's an operator of that name for terms of the same kind?"""
        sets, maps = ({"add", "add-new"}, {"store", "look"})
        return bool(
            (form == "_,_" and role in ("pair", "mixed") and sets & set(self.kinds))
            or (form == "_|->_" and maps & set(self.kinds))
        )

    def _threads(self) -> tuple[Code, ...]:
        """Few steps, so that there are few states."""
        sizes = self.random.choice([(2, 2), (3, 2), (2, 2, 1), (2, 1, 1), (1, 1, 1, 1), (3, 1, 1)])
        return tuple(tuple(self._step() for _ in range(size)) for size in sizes)

    def _step(self, *, inside: bool = False) -> Step:
        random = self.random
        kind = random.choice(self.kinds)
        if inside and kind == "spawn":
            kind = "put"
        args: list[str | Code] = []
        for wanted in INSTRUCTIONS[kind]:
            if wanted == "Name":
                args.append(random.choice(self.names[:2]))
            elif wanted == "Code":
                args.append((self._step(inside=True),))
            elif kind == "spawn":
                self.children += 1
                args.append(str(self.children))
            else:
                args.append(self._value() if wanted == "Val" else str(random.randint(0, 2)))
        return Step(kind, tuple(args))

    def _value(self) -> str:
        few = [str(self.random.randint(0, 2)) for _ in range(1 if self.random.random() < 0.75 else 2)]
        return ",".join(few)

    def _formula(self) -> str:
        text = self.random.choice(FORMULAS)
        return text.replace("|A|", f"|{self._proposition()}|").replace("|B|", f"|{self._proposition()}|")

    def _sought(self) -> tuple[str, str]:
        """States to search for."""
        random = self.random
        arrow = random.choice(["=>*", "=>*", "=>!", "=>!", "=>+", "=>1"])
        both = f"both {' '.join(self.names[:2])} {random.randint(0, 2)}"
        return arrow, random.choice(["cell", "changed", "alike", "over", self._proposition(), both])

    def _pass_by(self, theory: Theory) -> Theory:
        """Two cells that hold the same for a while, if threads take turns. Of what one cell holds, all runs of a
        class see the same; a state like this is one that a reduction can pass by."""
        one, two = self.names[:2]
        threads = tuple((Step("put", (name, "5")), Step("put", (name, "6"))) for name in (one, two))
        return replace(theory, threads=threads, sought=("=>*", f"both {one} {two} 5"))

    def _proposition(self) -> str:
        random = self.random
        kind = random.choice(["is", "is", "over", "has"])
        if kind == "is":
            return f"is {random.choice(self.names[:2])} {self._value()}"
        return f"{kind} {random.randint(0, 1)}"
