"""Random models in which one atomic sequence moves others: who is met on its way is moved to where it answers
somebody else, asserts, or sends on while it has the turn. An attack by hand found what models over the whole
language (`everything`) come to too rarely: that needs four processes with the right channels.
"""

from __future__ import annotations

from random import Random

from conformance.promela.text import Block, Braces, Choice, Line, Model, Proctype

_SETS = ("x = 1", "y = 1", "x = y + 1", "y = 2", "skip", "b = !b")
_TESTS = ("x == 0", "x < 2", "y == 1", "b", "!b", "x == y")
_FORMULAS = ("[] (x == 0)", "<> b", "[] (b -> y == 0)", "[] <> (x == y)", "(y == 0) W b")


def generate(random: Random) -> Model:
    return _Writer(random).model()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def model(self) -> Model:
        bodies = [self._mover(), self._moved("r", "t"), self._other("t")]
        if self.chance(2):  # who is met goes on, and moves a fourth
            bodies[1] = self._moving_on("r", "s")
            bodies.append(self._moved("s", "t"))
        if self.chance(3):
            bodies.append(self._sequence(2))
        self.random.shuffle(bodies)
        late = self.random.randrange(len(bodies)) if self.chance(3) else None
        proctypes = [
            Proctype(f"{'' if number == late else 'active '}proctype {name}()", (), body)
            for number, (name, body) in enumerate(zip("PQRST", bodies, strict=False))
        ]
        if late is not None:
            begin = self._sequence(1) if self.chance(2) else ()
            proctypes.append(Proctype("init", (), (*begin, Line(f"run {'PQRST'[late]}()"))))
        declarations = ("byte x", "byte y", "bool b", *(f"chan {name} = [0] of {{ bit }}" for name in "rst"))
        return Model(declarations, tuple(proctypes), tuple(self.random.sample(_FORMULAS, 1)))

    def _line(self) -> Line:
        return Line(self.random.choice(_SETS if self.chance(2) else (*_SETS, *_TESTS)))

    def _sequence(self, most: int) -> Block:
        return tuple(self._line() for _ in range(self.random.randint(1, most)))

    def _atomic(self, body: Block) -> Block:
        return (Braces("atomic", body),) if not self.chance(4) else body

    def _send(self, channel: str) -> Line | Choice:
        send = Line(f"{channel}!{self.random.choice('01')}")
        if self.chance(3):
            other = Line("else") if self.chance(2) else self._line()
            return Choice("if", ((send, *(self._sequence(1) if self.chance(2) else ())), (other,)))
        return send

    def _mover(self) -> Block:
        """Sends to somebody after something else, in one step."""
        after = self._sequence(1) if self.chance(2) else ()
        return self._atomic((*self._sequence(2), self._send("r"), *after))

    def _receive(self, channel: str) -> Line:
        return Line(f"{channel}?{self.random.choice('_01__')}")

    def _moving_on(self, channel: str, to: str) -> Block:
        begun = self._sequence(1) if self.chance(2) else ()
        return self._atomic((self._receive(channel), *begun, self._send(to)))

    def _moved(self, channel: str, to: str) -> Block:
        """Is met, and stands then where it answers, or does something."""
        then = self.random.choice(
            [(self._receive(to),), (self._assertion(),), self._sequence(2), (self._send(to),)]
        )
        return (self._receive(channel), *then)

    def _assertion(self) -> Line:
        return Line(f"assert({self.random.choice(_TESTS)})")

    def _other(self, channel: str) -> Block:
        """What it does depends on whether somebody answers, or others depend on what it does."""
        send, then = Line(f"{channel}!1"), (self._assertion(), *self._sequence(1))
        if self.chance(3):
            return self._sequence(2)
        if self.chance(2):
            return (Braces("", then, escape=(send,)),)
        return (Choice("if", ((send, *self._sequence(1)), (Line("else"), *then))),)
