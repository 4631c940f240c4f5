"""Calls: what is understood of the callee. `calling.call(f, site)` gives what the program calls in its place.

Instrumented functions record themselves, and are left as they are. All else is looked up in a table of effects
(`table`) by what it is, or by its kind (`dispatch`). An effect says what happens to each argument (`effects`); few
callables are special cases. Whatever has no effect makes the step opaque.
"""

from __future__ import annotations

import functools
import operator
import types

from porcini.langs.aio import trusted
from porcini.langs.aio.calls import attributes, calling, dispatch

calling.BY_TYPE.update(
    {
        types.FunctionType: dispatch.replace_function,
        types.MethodType: dispatch.replace_method,
        **dict.fromkeys(trusted.IN_C, dispatch.replace_c_function),
        types.MethodWrapperType: dispatch.replace_special_method,
        types.MethodDescriptorType: dispatch.replace_unbound_method,
        types.WrapperDescriptorType: dispatch.replace_unbound_method,
        type: dispatch.replace_class,
        types.GenericAlias: calling.replace_alias,
        functools.partial: calling.replace_partial,
        operator.attrgetter: attributes.replace_attribute_getter,
        operator.itemgetter: attributes.replace_item_getter,
        operator.methodcaller: attributes.replace_method_caller,
    }
)
