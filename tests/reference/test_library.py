from __future__ import annotations

from pathlib import Path

import pytest

from rop_otel.reference.corpus.library import Documented, Library

FILES = {
    "pkg/__init__.py": '''
"""The package."""
from .tasks import *
from ._impl import helper, _hidden
from .other import lazily
__all__ = tasks.__all__ + ("helper",)
__all__.append("lazily")
''',
    "pkg/tasks.py": '''
"""Tasks."""
__all__ = ("wait_for", "Task", "Base")
async def wait_for(fut, timeout):
    """Wait."""
def unlisted():
    """Not public."""
class Base:
    """A base."""
    def run(self, *, now=False):
        """Run it."""
class _Private:
    def adopted(self):
        """From a private base."""
class Task(Base, _Private):
    """A task."""
    @classmethod
    def make(cls, name):
        """Make one."""
    def run(self): ...
    def _secret(self):
        """Hidden."""
''',
    "pkg/_impl.py": '''
if True:
    def helper():
        """Help."""
def _hidden():
    """Hidden."""
''',
    "pkg/other.py": '''
class lazily:
    def __init__(self):
        """Made late."""
''',
    "alone.py": '''
import pkg.tasks
class Worker(pkg.tasks.Base):
    """Works."""
def undocumented(): ...
''',
}


@pytest.fixture
def found(tmp_path: Path) -> dict[str, Documented]:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    documented = Library(tmp_path, ("pkg", "pkg.tasks", "alone", "missing")).documented()
    assert len({one.key for one in documented}) == len(documented)
    return {one.key: one for one in documented}


def test_reexported_names_are_keys_and_defining_names_aliases(found: dict[str, Documented]) -> None:
    """An object is known by its shortest public name, and by where it is defined."""
    assert found["pkg.wait_for"].aliases == ("pkg.tasks.wait_for",)
    assert found["pkg.wait_for"].title == "pkg.wait_for(fut, timeout)"
    assert found["pkg.helper"].aliases == ("pkg._impl.helper",)


def test_what_is_not_exported_is_no_object(found: dict[str, Documented]) -> None:
    """Names outside ``__all__``, private ones and undocumented ones are left out."""
    assert not {"pkg.unlisted", "pkg.tasks.unlisted", "pkg._hidden", "pkg.Task._secret", "alone.undocumented"} & set(
        found
    )


def test_inherited_methods_are_aliases_of_the_inherited_one(found: dict[str, Documented]) -> None:
    """A public base's method can be named by the class that inherits it, over modules and without docstring too."""
    assert set(found["pkg.Base.run"].aliases) == {"pkg.tasks.Base.run", "pkg.Task.run", "alone.Worker.run"}


def test_methods_of_private_bases_belong_to_the_public_class(found: dict[str, Documented]) -> None:
    """What a private base documents is an object of the class that users know."""
    assert found["pkg.Task.adopted"].parent == "pkg.Task"


def test_a_class_without_docstring_takes_that_of_its_constructor(found: dict[str, Documented]) -> None:
    """A class documented in ``__init__`` is documented."""
    assert found["pkg.lazily"].doc == "Made late."


def test_receivers_are_no_part_of_a_signature(found: dict[str, Documented]) -> None:
    """``self`` and ``cls`` are not shown."""
    assert found["pkg.Task.make"].title == "pkg.Task.make(name)"


def test_modules_come_first_and_missing_ones_are_passed_over(found: dict[str, Documented]) -> None:
    """A module's docstring is an object before its contents."""
    assert next(iter(found)) == "pkg"
    assert "missing" not in found
