"""What a run counts beside its verdicts: at which cutoffs, with which trace set, at which depth of the stored lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rop_otel.core.profile.declaration import Declaration, Opened
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a report; none of them decides a verdict.

    Args:
        cutoffs: Where outcomes and failures are counted, ascending, the declared one among them; empty for an invalid
            declaration.
        trace: Path of the judged objects; None: there is no trace set.
        depth: How deep every list was stored; None where nothing says so.
        near: The last rank that counts as near; None: every rank past the cutoff does.
    """

    cutoffs: tuple[int, ...] = ()
    trace: str | None = None
    depth: int | None = None
    near: int | None = None

    @classmethod
    def of(
        cls,
        opened: Opened,
        *,
        at: Sequence[int] = (),
        trace: str | None = None,
        depth: int | None = None,
        near: int | None = None,
    ) -> Terms:
        """Return what a declaration seals, and what is asked for beside it.

        Args:
            opened: The declaration; an invalid one has no terms, whatever is asked for.
            at: Cutoffs beside the declared one.
            trace: A path, where the sheet has none.
            depth: At least the declared cutoff, where the sheet has none.
            near: At least 1.

        Raises:
            ConfigurationError: What is asked for is no cutoff, path, depth or rank, or the sheet says otherwise.
        """
        if trace is not None:
            _check_path(trace)
        for option, number in (*(("--at", cutoff) for cutoff in at), ("--depth", depth), ("--near", near)):
            if number is not None and number < 1:
                raise ConfigurationError(f"{option} {number}: it must be at least 1")
        declaration = opened.declaration
        if declaration is None:
            return cls()
        found = cls(
            cutoffs=tuple(sorted({*at, declaration.cutoff})),
            trace=_sealed_or_asked(declaration, trace),
            depth=declaration.depth if depth is None else depth,
            near=near,
        )
        _check_depth(found, declaration, asked=depth)
        return found


def _check_path(trace: str) -> None:
    try:
        FieldPath.parse(trace)
    except ValueError as error:
        raise ConfigurationError(f"--trace: {error}") from None


def _sealed_or_asked(declaration: Declaration, trace: str | None) -> str | None:
    sealed = declaration.trace_field
    if sealed is None:
        return trace
    if trace is not None:
        raise ConfigurationError(f"--trace {trace!r}: the sheet names the trace field {sealed.text!r}; leave it out")
    return sealed.text


def _check_depth(terms: Terms, declaration: Declaration, *, asked: int | None) -> None:
    if asked is not None and declaration.depth is not None:
        raise ConfigurationError(f"--depth {asked}: the sheet says {declaration.depth}; leave it out")
    if asked is not None and asked < declaration.cutoff:
        raise ConfigurationError(f"--depth {asked}: it must be at least the declared cutoff, {declaration.cutoff}")
    last = terms.cutoffs[-1]
    if last > max(declaration.cutoff, terms.depth or 0):
        stored = "nothing says that lists were stored so deep; say how deep with --depth"
        if terms.depth is not None:
            stored = f"lists were stored no deeper than {terms.depth}; what was not stored is not a miss"
        raise ConfigurationError(f"--at {last}: {stored}")
