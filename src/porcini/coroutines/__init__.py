"""Coroutine functions: every order of their steps that can make a difference.

code                what commands ask about: a function, its arguments, and how it is run
session, guards     code made ready to be explored, and how the world looks to it
steady              the same schedule must do the same
explaining          a counterexample for people: `comparing`, `noting`, `touching`, `blocked`
"""

from porcini.coroutines.guards import Blocking, Guards
from porcini.coroutines.session import Session, from_name, session
from porcini.coroutines.steady import NondeterministicProgram

__all__ = ["Blocking", "Guards", "NondeterministicProgram", "Session", "from_name", "session"]
