"""Coroutine functions: every order of their steps that can make a difference.

explore, replay     what a library user calls
Guards, session     how the world looks to the code under test, and code made ready to be explored
"""

from porcini.coroutines.exploring import explore, replay
from porcini.coroutines.guards import Blocking, Guards
from porcini.coroutines.session import Session, session
from porcini.coroutines.steady import Unsteady

__all__ = ["Blocking", "Guards", "Session", "Unsteady", "explore", "replay", "session"]
