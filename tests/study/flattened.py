"""The counts of our own tables and transitions, named as ``recount.py`` names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OUTCOMES = ("both", "selected_only", "trace_only", "neither")
KINDS = ("kept", "recovered", "lost", "missed_by_both", "unverifiable")
STANDINGS = ("no_selection", "unresolved", "same", "different", "no_trace", "trace_unresolved")

Counts = dict[str, dict[str, int]]


def flattened(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> Counts:
    """Return the counts by name, without those that are 0; a name that two tables count differently is an error.

    Args:
        tables: What ``study tables`` gives as JSON, under ``tables``.
        changes: What ``study transitions`` gives.
    """
    found: Counts = {}

    def put(table: str, row: Any, cutoff: str, **counts: int) -> None:
        name = f"{table} {row['selector']} {row['form']} {row['rule']} {cutoff}"
        kept = {kind: count for kind, count in counts.items() if count}
        if kept and found.setdefault(name, kept) != kept:
            raise AssertionError((name, found[name], kept))

    for row in tables["4"]["rows"]:
        found[f"4 {row['selector']}"] = {kind: row[kind] for kind in STANDINGS if row[kind]}
    for row in tables["5"]["rows"]:
        for cutoff, missing in row["missing"].items():
            lost = row["unverifiable"]
            put("5", row, cutoff, missing=missing, unverifiable=lost, found=row["n"] - missing - lost)
            if row["same"] is not None:
                put("same", row, cutoff, missing=row["same"]["missing"][cutoff])
    for row in tables["6"]["rows"]:
        for cutoff, by_rule in row["missing"].items():
            for rule, missing in by_rule.items():
                lost = row["unverifiable"][rule]
                counts = {"missing": missing, "unverifiable": lost, "found": row["n"] - missing - lost}
                put("5", {**row, "rule": rule}, cutoff, **counts)
    for table, same in (("14", "5"), ("20", "20")):
        for row in tables[table]["rows"]:
            for cutoff, returned in row["returned"].items():
                lost = row["unverifiable"]
                put(same, row, cutoff, found=returned, unverifiable=lost, missing=row["n"] - returned - lost)
    for row in tables["7"]["rows"]:
        for record in row["records"]:
            ranks = {rule: rank or 0 for rule, rank in row["ranks"].items()}
            found[f"7 {row['form']} {record['selector']} {record['id']}"] = ranks
    for table in ("8", "16", "17"):
        for row in tables[table]["rows"]:
            for cutoff, at in row["at"].items():
                put("8", row, cutoff, **at, unverifiable=row["unverifiable"])
                own = row.get("own_table", None) if table == "8" else None
                if table == "8":
                    put("8-own", row, cutoff, **(at if own is None else own["at"][cutoff]))
    for row in tables["18"]["rows"]:
        for cutoff, different in row["different"].items():
            at = next(one["at"][cutoff] for one in tables["16"]["rows"] if one["rule"] == row["rule"])
            assert different == at["selected_only"] + at["trace_only"]
    for row in tables["19"]["rows"]:
        for cutoff, at in row["at"].items():
            kinds = {kind: at[kind] for kind in ("near", "nonmatch", "unresolved")}
            assert at["absent"] == sum(kinds.values())
            put("19", row, cutoff, **kinds, unverifiable=row["unverifiable"])
    for row in tables["22"]["rows"]:
        for form, returned in row["returned"].items():
            for cutoff, count in returned.items():
                put("22", {**row, "form": form}, cutoff, found=count)
    for row in changes["transitions"]:
        for cutoff, at in row["at"].items():
            put(
                "transitions",
                {**row, "rule": f"{row['from']} {row['to']}"},
                cutoff,
                **{kind: at[kind] for kind in KINDS},
            )
    return found
