"""Process names that are the same in every schedule."""

from __future__ import annotations

import re

_PID = re.compile(r"[0-9]+(\.[0-9]+)*\Z")


class Pid(tuple[int, ...]):
    """A spawn path: `0.1` is the second process that process `0` spawned (P0, erratum 5).

    >>> Pid.parse("0.1").child(0)
    Pid('0.1.0')
    >>> Pid.parse("0.1") < Pid.parse("0.1.0") < Pid.parse("0.2")
    True
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Pid:
        if not _PID.match(text):
            raise ValueError(f"not a process id: {text!r}")
        return cls(int(part) for part in text.split("."))

    def child(self, number: int) -> Pid:
        return Pid((*self, number))

    @property
    def parent(self) -> Pid | None:
        return Pid(self[:-1]) if len(self) > 1 else None

    def __str__(self) -> str:
        return ".".join(map(str, self))

    def __repr__(self) -> str:
        return f"Pid({str(self)!r})"


ROOT = Pid((0,))
