"""Coroutine functions: every order of their steps that can make a difference.

explore, run, replay    what a library user calls
Guards, session         how the world looks to the code under test, and code made ready to be explored
"""

from porcini.coroutines.exploring import explore, replay, run
from porcini.coroutines.guards import Blocking, Guards
from porcini.coroutines.session import Session, from_name, session
from porcini.coroutines.steady import NondeterministicProgram

__all__ = [
    "Blocking",
    "Guards",
    "NondeterministicProgram",
    "Session",
    "explore",
    "from_name",
    "replay",
    "run",
    "session",
]
