"""Promela: the language of SPIN, as far as common models use it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from porcini.core.errors import InputError
from porcini.langs.promela.lower import Model
from porcini.langs.promela.preprocess import includer

__all__ = ["Model", "load"]


def load(source: str, file: str, defines: Mapping[str, str] | None = None) -> Model:
    """Parse, check and lower a model; `defines` are macros that it finds defined."""
    path = Path(file)
    try:
        return Model(source, file, includer(path.parent) if path.is_file() else None, defines)
    except RecursionError:
        raise InputError("nested too deep", file=file) from None
