"""Sealed declarations and record files of a study's runs, for ``rop-otel evaluate`` and anyone else to judge."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from rop_otel.core.profile.population import PopulationError, write_population
from rop_otel.core.profile.sealing import Decisions
from rop_otel.errors import InputError
from rop_otel.evaluation.declaration_writer import write_folder
from rop_otel.study.frozen_study import RankingName, Study
from rop_otel.study.judging import OUTPUT_FIELD, RECORD_FIELD, SELECTION_FIELD, TRACE_FIELD, record_of
from rop_otel.study.tables.table_context import check_cutoff

RECORDS_FILE: Final = "records.jsonl"
RESOLVER_FILE: Final = "resolver.json"
_UNSAFE: Final = re.compile(r"[^\w.+-]|^\.+")


def declare_study(study: Study, folder: str, *, cutoff: int) -> list[Path]:
    """Write a folder for each selector, query form and rule: a sealed declaration, and its records.

    Args:
        study: The rankings.
        folder: Where the folders are made.
        cutoff: The declared cutoff.

    Returns:
        The declarations' places.

    Raises:
        InputError: The rankings cannot be read, or a folder holds another declaration.
        ConfigurationError: The cutoff is below 1 or beyond the stored depth.
    """
    check_cutoff(cutoff, study.depth)
    resolver = study.resolver.to_bytes()
    planned = {row.key: row for row in study.rows}
    selectors = tuple(dict.fromkeys(row.selector for row in study.rows))
    places = _places(folder, selectors, study.rankings)
    for name in study.rankings:
        records: dict[str, list[dict[str, Any]]] = {selector: [] for selector in selectors}
        for ranked in study.ranked_rows(name):
            records[ranked.selector].append(record_of(planned.get((ranked.selector, ranked.id)), ranked))
        for selector in selectors:
            place = places[selector, name]
            write_folder(
                place,
                _decisions(study, name, selector, cutoff),
                resolver=(study.resolver, (RESOLVER_FILE, resolver)),
                population=_population(study, selector),
            )
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records[selector])
            with open(os.path.join(place, RECORDS_FILE), "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(lines)
    return [Path(place) / "declaration.json" for place in places.values()]


def _places(
    folder: str, selectors: tuple[str, ...], names: tuple[RankingName, ...]
) -> dict[tuple[str, RankingName], str]:
    """Return a folder for each run, named by what it is of.

    Raises:
        InputError: Two runs would have the same, since their names differ only in what no folder's name may hold.
    """
    places: dict[tuple[str, RankingName], str] = {}
    for name in names:
        for selector in selectors:
            own = ".".join(_UNSAFE.sub("_", each.replace(":", "+")) for each in (selector, name.form, name.rule))
            if (place := os.path.join(folder, own)) in places.values():
                raise InputError(f"two runs would be written to it, the second of selector {selector!r}", file=place)
            places[selector, name] = place
    return places


def _decisions(study: Study, name: RankingName, selector: str, cutoff: int) -> Decisions:
    return Decisions(
        declaration_id=f"{selector}.{name.form}.{name.rule}",
        interface=f"study of {name.rule}",
        interface_version="v1",
        specification=f"frozen rankings, manifest {study.files.sha256}",
        component=name.rule,
        mode="hard",
        authority="rop-otel study",
        producer=name.rule,
        revision=study.files.sha256,
        selection_field=SELECTION_FIELD,
        output_field=OUTPUT_FIELD,
        cutoff=cutoff,
        rule="any",
        record_field=RECORD_FIELD,
        depth=study.depth,
        trace_field=TRACE_FIELD,
        query_form=name.form,
    )


def _population(study: Study, selector: str) -> bytes:
    try:
        return write_population([row.id for row in study.rows if row.selector == selector])
    except PopulationError as error:
        raise InputError(f"no population of selector {selector!r}: {error}", file=study.files.folder) from None
