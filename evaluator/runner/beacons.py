"""Puts beacons into tests while pytest compiles them; comes after `channel.py`.

A beacon is a `with` statement around the body of a test, compiled into the test itself: a second witness of
how the test ended, which hears nothing when something else than the test was run in its place.
"""

import ast
import builtins
import hashlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluator.runner.channel import Channel, excerpt


class Beacons:
    """Puts beacons into the tests of the given modules while pytest rewrites their assertions."""

    NAME = "__assay_body__"
    MARKS = ("parametrize", "skip", "skipif", "xfail", "usefixtures", "filterwarnings")

    def __init__(self, channel: "Channel", files: "list[str]") -> None:
        self.channel = channel
        self.files = {place(name): name for name in files for place in (os.path.abspath, os.path.realpath)}

    def install(self) -> None:
        """A pytest without the functions replaced here runs as it is, without beacons."""
        module = sys.modules.get("_pytest.assertion.rewrite")
        rewrite, read = getattr(module, "rewrite_asserts", None), getattr(module, "_read_pyc", None)
        if module is None or rewrite is None or read is None:
            return

        def rewrite_asserts(tree: ast.Module, *context: object) -> object:
            # Releases differ in what else they pass: the source, the path, the configuration.
            for path in (str(each) for each in context if type(each) is not bytes):
                if path in self.files:
                    self.watch(tree, path, [each for each in context if type(each) is bytes])
            return rewrite(tree, *context)

        def read_pyc(source: object, *context: object) -> object:
            return None if str(source) in self.files else read(source, *context)  # it has no beacons

        vars(module).update(rewrite_asserts=rewrite_asserts, _read_pyc=read_pyc)
        vars(builtins)[self.NAME] = body_of(self.channel)

    def watch(self, tree: ast.Module, path: str, sources: "list[bytes]") -> None:
        if sources:
            source = sources[0]
        else:
            with open(path, "rb") as stream:  # noqa: PTH123
                source = stream.read()
        file = self.files[path]
        tests = []  # type: list[str]
        self.enter(tree, file, tests)
        self.channel.send("source", file=file, sha256=hashlib.sha256(source).hexdigest(), tests=tests)

    def enter(self, scope: "ast.Module | ast.ClassDef", prefix: str, tests: "list[str]") -> None:
        names = list(bindings(scope))
        for node in scope.body:
            if not isinstance(node, DEFINITIONS) or not self.is_plain(node) or names.count(node.name) != 1:
                continue
            name = prefix + "::" + node.name
            if isinstance(node, ast.ClassDef):
                self.enter(node, name, tests)
            elif node.name.startswith("test") and not is_generator(node):
                self.wrap(node, name)
                tests.append(name)

    def is_plain(self, node: "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef") -> bool:
        """Whether what pytest calls is surely the very thing that is defined here."""
        if isinstance(node, ast.ClassDef) and node.keywords:
            return False
        return all(map(self.is_mark, node.decorator_list))

    def is_mark(self, decorator: ast.AST) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        within = getattr(called, "value", None)
        family = getattr(within, "attr", getattr(within, "id", ""))
        return family == "mark" and getattr(called, "attr", "") in self.MARKS

    def wrap(self, node: "ast.FunctionDef | ast.AsyncFunctionDef", name: str) -> None:
        introduction = node.body[: ast.get_docstring(node, clean=False) is not None]
        body = node.body[len(introduction) :] or [ast.copy_location(ast.Pass(), node.body[0])]
        call = ast.parse(f"{self.NAME}({name!r})", mode="eval").body
        beacon = ast.With(items=[ast.withitem(context_expr=call)], body=body)
        for part in (beacon, *ast.walk(call)):
            ast.copy_location(part, body[0])
        node.body = [*introduction, beacon]


YIELDS = (ast.Yield, ast.YieldFrom)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_generator(node: ast.AST) -> bool:
    return any(isinstance(part, YIELDS) for part in ast.walk(node))


def bindings(scope: "ast.Module | ast.ClassDef") -> "Iterator[str]":
    """Every name bound in a scope itself, as often as it is."""
    pending = list(scope.body)  # type: list[ast.AST]
    while pending:
        node = pending.pop()
        if isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        else:
            pending.extend(ast.iter_child_nodes(node))


def body_of(channel: "Channel") -> type:
    class Body:
        __slots__ = ("name",)

        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: "type | None", error: object, trace: object) -> None:
            channel.send("body", id=self.name, ended="" if kind is None else excerpt(kind.__name__))

    return Body
