"""What stands for a generator or coroutine of the application, and looks like it."""

from __future__ import annotations

from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, ClassVar, Final

NATIVE: Final = (GeneratorType, CoroutineType, AsyncGeneratorType)
_FRAMES: Final = ("gi_frame", "cr_frame", "ag_frame")


class Standing:
    """Stands for a generator or coroutine, and passes on what is asked of it, such as its frame or its name.

    It has no finalizer. When nobody has it any more, the interpreter alone ends what it stands for, as it does without
    us: it informs the event loop of an asynchronous generator, and warns of a coroutine that nobody awaited.

    Args:
        inner: What it stands for.
    """

    __slots__ = ("__weakref__", "_inner")
    _kind: ClassVar[type]
    """What it looks like before there is anything that it stands for."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def __class__(self) -> Any:
        if self._inner is None:
            return self._kind
        return self._inner.__class__ if isinstance(self._inner, NATIVE) else type(self)

    @__class__.setter
    def __class__(self, other: Any) -> None:
        raise TypeError("the class of what stands for a generator cannot be changed")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __repr__(self) -> str:
        return repr(self._inner)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._inner.__reduce_ex__(protocol)

    def _is_over(self) -> bool:
        """Return whether it came to its end; it did not where it is asked to go on while it runs."""
        return all(getattr(self._inner, name, None) is None for name in _FRAMES)
