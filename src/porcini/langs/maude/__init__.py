"""Any language that is given as a rewrite theory in Maude (P1)."""

from porcini.langs.maude.checker import Answer, TooMany, ask
from porcini.langs.maude.model import Model, load
from porcini.langs.maude.system import MaudeSystem, Unknown

__all__ = ["Answer", "MaudeSystem", "Model", "TooMany", "Unknown", "ask", "load"]
