"""Calls: what is known about the callee. `calling.call(f, site)` gives back what the program then calls.

Instrumented functions record themselves, and are given back as they are. What else is called is looked up here, by
its type. Some of it is modelled: builtins, C methods of containers and of futures, the modules that `known` lists.
If the model needs the arguments, a small wrapper is given back. Everything else makes the step opaque.
"""

from __future__ import annotations

import functools
import operator
import types

from porcini.langs.aio.calls import attributes, calling, classes, functions, methods

calling.BY_TYPE.update(
    {
        types.FunctionType: functions.in_python,
        types.MethodType: methods.in_python,
        types.BuiltinFunctionType: methods.in_c,
        types.MethodWrapperType: methods.wrapper,
        types.MethodDescriptorType: methods.unbound,
        types.WrapperDescriptorType: methods.unbound,
        type: classes.called,
        types.GenericAlias: calling.alias,
        functools.partial: calling.partial,
        operator.attrgetter: attributes.attribute_getter,
        operator.itemgetter: attributes.item_getter,
        operator.methodcaller: attributes.method_caller,
    }
)
