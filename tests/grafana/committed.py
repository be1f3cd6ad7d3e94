"""The committed output; run as a module, writes it anew."""

from __future__ import annotations

from pathlib import Path

from rop_otel_grafana import Settings, dashboard_files, rule_files, write

FOLDER = Path(__file__).resolve().parents[2] / "grafana"
DIST = FOLDER / "dist"
RULES = DIST / "rules"


def made() -> dict[str, str]:
    """Return every generated file by its place in the folder ``grafana``."""
    settings = Settings()
    rules = rule_files(settings)
    return {
        "runbook.md": rules.pop("runbook.md"),
        **{f"dist/rules/{name}": text for name, text in rules.items()},
        **{f"dist/{name}": text for name, text in dashboard_files(settings).items()},
    }


if __name__ == "__main__":
    write(FOLDER, made())
