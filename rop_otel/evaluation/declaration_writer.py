"""Writes the sealed folder of a declaration from a user's lists and tables."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path

from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.population import PopulationError, write_population
from rop_otel.core.profile.records import RecordError, parse_object
from rop_otel.core.profile.resolver import Resolver
from rop_otel.core.profile.sealing import DECLARATION_FILE, Decisions, seal
from rop_otel.core.profile.validation import open_declaration
from rop_otel.errors import ConfigurationError, InputError, ResolverError
from rop_otel.evaluation.limits import DEFAULT_LIMITS, RAISE_FILE_BYTES, Limits
from rop_otel.evaluation.record_blocks import is_parquet, read_numbered_lines
from rop_otel.evaluation.resolver_files import read_resolver
from rop_otel.safety.files import read_whole

_SHOWN_FAULTS = 5


def read_population(file: str, *, field: str | None = None, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the population file of the record IDs in a list, or in a field of a record file.

    Args:
        file: One ID a line, blank lines left out; or a record file, JSON Lines.
        field: Path of the ID in a record file; None for a list.
        limits: How long a line may be.

    Raises:
        InputError: The file cannot be read, an ID is given twice, or there are none.
    """
    _refuse_parquet(file, "a list or JSON Lines")
    names: dict[str, None] = {}
    for name in _lines(file, limits) if field is None else _fields(file, field, limits):
        if name in names:  # reported at once: a small file may unpack to one ID without end
            raise InputError(f"no population: {name!r} is given twice", file=file)
        names[name] = None
    try:
        return write_population(list(names))
    except PopulationError as error:
        raise InputError(f"no population: {error}", file=file) from None


def read_resolver_or_table(
    file: str,
    *,
    chunk: str | None = None,
    object_: str | None = None,
    version: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Resolver, tuple[str, bytes]]:
    """Return a resolver with its file's name and bytes.

    Args:
        file: In our format, or a table: CSV with a header, or JSON Lines.
        chunk: Column of the raw corpus IDs; None for our format.
        object_: Column of the object that each belongs to.
        version: The resolver's version, for a table; a file in our format has its own.
        limits: How large the file, and how long a line of a table in JSON Lines, may be.

    Raises:
        InputError: The file is neither.
        ConfigurationError: A column or the version is missing, or the version is another one than the file's.
    """
    _refuse_parquet(file, "CSV or JSON Lines")
    if chunk is None and object_ is None and not file.endswith(".csv"):
        resolver, data = read_resolver(file, limits=limits)
        if version not in (None, resolver.version):
            raise ConfigurationError(f"--resolver-version {version!r}: {file} says {resolver.version!r}")
        return resolver, ("resolver.jsonl" if file.endswith(".jsonl") else "resolver.json", data)
    if chunk is None or object_ is None or version is None:
        raise ConfigurationError("a table of chunks needs --chunk-column, --object-column and --resolver-version")
    members: dict[str, list[str]] = {}
    try:
        for raw, name in _pairs(file, chunk, object_, limits):
            members.setdefault(name, []).append(raw)
        resolver = Resolver(members, version=version)
    except ResolverError as error:
        raise InputError(str(error), file=file) from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as CSV in UTF-8: {error}", file=file) from None
    return resolver, ("resolver.json", resolver.to_bytes())


def write_folder(
    folder: str,
    decisions: Decisions,
    *,
    resolver: tuple[Resolver, tuple[str, bytes]],
    population: bytes | None,
    inverse_map: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Path:
    """Write a sealed folder and return the declaration's place.

    Args:
        folder: Made where it is not there.
        decisions: The user's decisions.
        resolver: The resolver, its file's name and bytes.
        population: The population file's bytes.
        inverse_map: Name of the inverse map's file, for a witness target.
        limits: How large that file may be.

    Raises:
        InputError: The folder holds a declaration, or another file of a sealed file's name; or a file cannot be read or
            written.
        ConfigurationError: The decisions give no valid declaration.
    """
    place = Path(folder) / DECLARATION_FILE
    if place.exists():
        raise InputError("is there already; a sealed declaration is not changed, make a new folder", file=str(place))
    try:
        inverse = None if inverse_map is None else _whole(inverse_map, limits)
        files = seal(
            decisions, resolver=resolver[0], resolver_file=resolver[1], population=population, inverse_map=inverse
        )
        opened = open_declaration(files[DECLARATION_FILE], files.__getitem__)
        if opened.faults:
            why = "; ".join(fault.message for fault in opened.faults[:_SHOWN_FAULTS])
            raise ConfigurationError(f"no valid declaration: {why}")
        place.parent.mkdir(parents=True, exist_ok=True)
        targets = {place.parent / name: data for name, data in files.items()}
        for target, data in targets.items():
            if target.exists() and target.read_bytes() != data:
                raise InputError("is there already, with other contents; make a new folder", file=str(target))
        for target, data in targets.items():
            target.write_bytes(data)
    except OSError as error:
        raise InputError(f"{error.strerror or error}", file=str(error.filename or place)) from None
    return place


def _refuse_parquet(file: str, instead: str) -> None:
    if is_parquet(file):
        raise InputError(f"is Parquet, which is not read here: write {instead}", file=file)


def _whole(file: str, limits: Limits) -> bytes:
    return read_whole(file, most=limits.max_file_bytes, remedy=RAISE_FILE_BYTES)


def _lines(file: str, limits: Limits) -> Iterator[str]:
    for number, line in read_numbered_lines(file, limits=limits):
        name = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").removesuffix(b"\r")
        try:
            if name:
                yield name.decode()
        except UnicodeDecodeError:
            raise InputError(f"{name[:80]!r} is no UTF-8", file=file) from None


def _fields(file: str, field: str, limits: Limits) -> Iterator[str]:
    path = _path(field)
    for number, record in _records(file, limits):
        found = path.read(record)
        if not isinstance(found, str) or not found:
            raise InputError(f"no non-empty string at {field!r}", file=file, line=number)
        yield found


def _pairs(file: str, chunk: str, object_: str, limits: Limits) -> Iterator[tuple[str, str]]:
    if file.endswith(".csv"):
        rows = csv.DictReader(io.StringIO(_whole(file, limits).decode("utf-8-sig"), newline=""))
        names = rows.fieldnames or ()
        for column in (chunk, object_):
            if column not in names:
                raise InputError(f"no column {column!r}, only {', '.join(names) or 'none'}", file=file)
        for row in rows:
            if row[chunk] is None or row[object_] is None:
                raise InputError("a row that is too short", file=file, line=rows.line_num)
            yield row[chunk], row[object_]
        return
    paths = _path(chunk), _path(object_)
    for number, record in _records(file, limits):
        raw, name = (path.read(record) for path in paths)
        if not isinstance(raw, str) or not isinstance(name, str):
            raise InputError(f"no strings at {chunk!r} and {object_!r}", file=file, line=number)
        yield raw, name


def _records(file: str, limits: Limits) -> Iterator[tuple[int, object]]:
    for number, line in read_numbered_lines(file, limits=limits):
        try:
            yield number, parse_object(line)
        except RecordError as error:
            raise InputError(str(error), file=file, line=number) from None


def _path(text: str) -> FieldPath:
    try:
        return FieldPath.parse(text)
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
