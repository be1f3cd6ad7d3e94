"""The files that a replay reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from rop_otel.core.profile.accounts import Input
from rop_otel.core.profile.declaration import Interface
from rop_otel.errors import ConfigurationError
from rop_otel.evaluation.declaration_reader import read_declaration
from rop_otel.evaluation.inputs import input_of
from rop_otel.evaluation.limits import DEFAULT_LIMITS, RAISE_FILE_BYTES, Limits
from rop_otel.evaluation.resolver_files import read_resolver
from rop_otel.replay.handoff_report import Report, replay
from rop_otel.safety.digested_files import Digest
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules
from rop_otel.spans.otlp_reader import read


def replay_files(
    files: Iterable[str],
    *,
    resolver: str | None = None,
    declaration: str | None = None,
    interfaces: Mapping[str, Interface] | None = None,
    rules: Rules | None = None,
    limits: Limits = DEFAULT_LIMITS,
    also: Callable[[Span], None] | None = None,
) -> Report:
    """Assess the spans of recorded files.

    Args:
        files: Names of OTLP JSON files.
        resolver: Name of a resolver file, ``.jsonl`` for JSON Lines; None: an ID stands for itself.
        declaration: Name of a run's declaration, which brings a resolver of its own.
        interfaces: By name of a handoff the interface that it stands for, one of another name for the interface of
            that name; None: the declaration's is not compared.
        rules: How spans of other conventions are read; None: as their conventions say.
        limits: How large each of these files may be.
        also: Takes each span as it is read, for what the report does not hold.

    Raises:
        InputError: A file cannot be read as what it should be.
        ConfigurationError: The resolver is not the declaration's, or there are interfaces and no declaration.
    """
    if interfaces is not None and declaration is None:
        raise ConfigurationError("interfaces are compared with a declaration's, and there is none")
    in_force = None if resolver is None else read_resolver(resolver, limits=limits)[0]
    opened = (
        None if declaration is None else replace(read_declaration(declaration, limits=limits), interfaces=interfaces)
    )
    if in_force is not None and opened is not None and opened.declaration is not None:
        declared = opened.declaration.resolver
        if in_force.sha256 != declared.sha256:
            raise ConfigurationError(f"{resolver!r} is not the resolver of {declaration!r}; leave it out")
    inputs: list[Input] = []
    spans: Iterable[Span] = chain.from_iterable(_spans(file, limits, inputs) for file in files)
    if also is not None:
        spans = _seen(spans, also)
    return replay(spans, resolver=in_force, declaration=opened, rules=rules, inputs=inputs)


def _seen(spans: Iterable[Span], also: Callable[[Span], None]) -> Iterator[Span]:
    for span in spans:
        also(span)
        yield span


def _spans(file: str, limits: Limits, inputs: list[Input]) -> Iterator[Span]:
    """Yield a file's spans, and then note the file."""
    digest = Digest()
    yield from read(file, max_file_bytes=limits.max_file_bytes, remedy=RAISE_FILE_BYTES, digest=digest)
    inputs.append(input_of(file, digest))
