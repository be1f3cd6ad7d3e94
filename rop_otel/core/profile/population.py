"""The population: every record ID that a run is expected to hold."""

from __future__ import annotations


class PopulationError(ValueError):
    """Bytes that are no population file; the message says why."""


def parse_population(data: bytes) -> tuple[str, ...]:
    """Read a population file: one record ID a line, LF-terminated, sorted by code point, distinct, at least one.

    Raises:
        PopulationError: A line breaks one of these rules.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise PopulationError(f"invalid UTF-8 at byte {error.start}") from None
    if not text:
        raise PopulationError("it is empty; a population holds at least one record ID")
    if not text.endswith("\n"):
        raise PopulationError("the last line does not end with LF")
    names = tuple(text[:-1].split("\n"))
    if "\r" in text:
        number = next(number for number, name in enumerate(names, 1) if "\r" in name)
        raise PopulationError(f"line {number} holds a carriage return; lines end with LF alone")
    before = ""
    for number, name in enumerate(names, 1):
        if name <= before:
            raise PopulationError(f"line {number}: {_why(name, before)}")
        before = name
    return names


def write_population(names: list[str]) -> bytes:
    """Return the population file of record IDs in any order.

    Raises:
        PopulationError: There are none, one is given twice, or one cannot stand on a line.
    """
    for name in names:
        if "\n" in name:
            raise PopulationError(f"{name!r} holds a line feed and cannot stand on one line")
    data = "".join(f"{name}\n" for name in sorted(names)).encode(errors="surrogatepass")
    parse_population(data)
    return data


def _why(name: str, before: str) -> str:
    if not name:
        return "it is empty"
    if name == before:
        return f"{name!r} is given twice"
    return f"{name!r} stands after {before!r}; record IDs are sorted by code point"
