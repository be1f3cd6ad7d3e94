"""Reading one Python source file without importing it: what it documents, exports and re-exports."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

_SIGNATURE_CHARS = 90
_RECEIVER = re.compile(r"^(self|cls)\b(, /)?(, )?")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A documented or undocumented class, function or method.

    Args:
        name: Its name in the scope that defines it.
        kind: ``class``, ``function`` or ``method``.
        signature: Parameters in parentheses; empty for a class without bases shown.
        doc: Cleaned docstring (a class without one: its ``__init__``'s); empty where there is none.
        bases: Names of a class's bases as written.
        members: A class's public methods.
    """

    name: str
    kind: str
    signature: str = ""
    doc: str = ""
    bases: tuple[str, ...] = ()
    members: tuple[Definition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source file.

    Args:
        module: Dotted name.
        doc: Cleaned docstring of the module.
        definitions: Top-level classes and functions by name.
        exported: Literal parts of ``__all__``; None where it has none.
        imported: Local name to (module, name) for names imported from elsewhere, at any depth.
        starred: Modules imported with a star, in order.
    """

    module: str
    doc: str
    definitions: dict[str, Definition]
    exported: tuple[str, ...] | None
    imported: dict[str, tuple[str, str]]
    starred: tuple[str, ...]


def read_source(path: Path, module: str) -> Source:
    """Parse one file.

    Args:
        path: The file.
        module: Its dotted name; relative imports are resolved against it.

    Raises:
        SyntaxError: The file is no Python source.
        OSError: The file cannot be read.
    """
    tree = ast.parse(path.read_bytes())
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    imported: dict[str, tuple[str, str]] = {}
    starred: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            for alias in node.names:
                if alias.name == "*":
                    starred.append(origin)
                else:
                    imported.setdefault(alias.asname or alias.name, (origin, alias.name))
                    imported.setdefault(alias.name, (origin, alias.name))
    return Source(
        module=module,
        doc=_doc(tree),
        definitions=_definitions(tree.body),
        exported=_exported(tree),
        imported=imported,
        starred=tuple(starred),
    )


def _origin(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _exported(tree: ast.Module) -> tuple[str, ...] | None:
    names: list[str] = []
    found = False
    for node in ast.walk(tree):
        value = _all_value(node)
        if value is not None:
            found = True
            names += [
                leaf.value for leaf in ast.walk(value) if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
            ]
    return tuple(names) if found else None


def _all_value(node: ast.AST) -> ast.expr | None:
    """Return what a statement puts into ``__all__``: by ``=``, ``+=``, ``extend`` or ``append``."""
    if isinstance(node, ast.Call):
        method = node.func
        called = (
            isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) and method.value.id == "__all__"
        )
        return node.args[0] if called and node.args else None
    if isinstance(node, ast.Assign):
        named = any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
        return node.value if named else None
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == "__all__":
        return node.value
    return None


def _definitions(body: list[ast.stmt]) -> dict[str, Definition]:
    """Return the classes and functions of a module body, those below ``if`` and ``try`` included; the first wins."""
    found: dict[str, Definition] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, _class(node))
        elif isinstance(node, _FUNCTION):
            found.setdefault(node.name, _function(node, kind="function"))
        elif isinstance(node, ast.If | ast.Try):
            for name, definition in _definitions([*node.body, *node.orelse]).items():
                found.setdefault(name, definition)
    return found


def _class(node: ast.ClassDef) -> Definition:
    methods: dict[str, Definition] = {}
    for child in node.body:
        if isinstance(child, _FUNCTION) and not child.name.startswith("_"):
            methods.setdefault(child.name, _function(child, kind="method"))
    makers = (child for child in node.body if isinstance(child, _FUNCTION) and child.name == "__init__")
    doc = _doc(node) or next((_doc(maker) for maker in makers), "")
    bases = tuple(ast.unparse(base) for base in node.bases)
    return Definition(name=node.name, kind="class", doc=doc, bases=bases, members=tuple(methods.values()))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, *, kind: str) -> Definition:
    arguments = ast.unparse(node.args)
    if kind == "method":
        arguments = _RECEIVER.sub("", arguments)
    if len(arguments) > _SIGNATURE_CHARS:
        arguments = arguments[:_SIGNATURE_CHARS].rpartition(",")[0] + ", ..."
    return Definition(name=node.name, kind=kind, signature=f"({arguments})", doc=_doc(node))


def _doc(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return inspect.cleandoc(ast.get_docstring(node, clean=False) or "").strip()
