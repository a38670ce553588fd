"""Notices when parts of the test runner are exchanged while it runs; comes after `channel.py`."""

import os
import sys
import types
import unittest  # noqa: F401 - a part of the runner too

OUTCOMES = ("_pytest", "pluggy", "unittest", "builtins")
HERE = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
CODE = (types.FunctionType, types.BuiltinFunctionType, type, property, classmethod, staticmethod)


def parts_of_the_runner() -> "dict[str, tuple[object, object]]":
    """Functions, classes and methods that decide outcomes: each with its code, by its name."""
    found = {}
    for title, module in list(sys.modules.items()):
        if title.split(".")[0] not in OUTCOMES or module is None:
            continue
        for name, value in list(vars(module).items()):
            if isinstance(value, CODE):
                found[title + "." + name] = value
            if isinstance(value, type) and value.__module__ == title:
                for key, member in list(vars(value).items()):
                    if isinstance(member, CODE):
                        found[title + "." + name + "." + key] = member
    return {name: (value, getattr(value, "__code__", None)) for name, value in found.items()}


def replaced(before: "dict[str, tuple[object, object]]") -> "list[list[str]]":
    """Parts of the runner that are others than before, or new, and the files of their code."""
    owners = {name.rpartition(".")[0] for name in before}
    found = []
    for name, (value, code) in parts_of_the_runner().items():
        was = before.get(name, (None, None))
        if name.rpartition(".")[0] in owners and (was[0] is not value or was[1] is not code):
            file = origin(value)
            if file or name in before:
                found.append([name, file])
    return found


def origin(value: object) -> str:
    """The file some code comes from, as `inside` has it; empty if it is none of Python's."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        return inside(code.co_filename)
    kind = value if isinstance(value, type) else type(value)
    return inside(str(getattr(sys.modules.get(kind.__module__), "__file__", None) or ""))


def inside(path: str) -> str:
    """Relative to the repository if it is in there."""
    return path[len(HERE) :] if path.startswith(HERE) else path
