"""The README's figures of cost, taken from the benchmarks' results; run as a module, writes them there."""

from __future__ import annotations

import json
from typing import Final

from tests.docs.tables import ROOT

RESULTS: Final = ROOT / "benchmarks" / "results.md"
README: Final = ROOT / "README.md"
BEGIN: Final = "<!-- costs: `make bench` writes these lines -->\n"
END: Final = "<!-- /costs -->\n"
UNMEASURED: Final = "not measured"

FIGURES: Final = {
    "whole_over_plain": ("The whole monitor, over the same spans and attributes written by hand", "≤ 1.35"),
    "whole_over_flattened": ("The same, over the documents flattened into an attribute each", "≤ 0.5"),
    "sampled_out_over_recording": ("A trace that sampling leaves out, over one that is recorded", "≤ 0.5"),
    "disabled_us": ("Switched off: microseconds per decorated call, over the bare function", "≤ 1.5"),
    "assess_over_plain": ("The checks alone, over those spans written by hand", "≤ 0.25"),
    "pytrec_over_scores": ("pytrec_eval, over our scores of one list", "≥ 15"),
    "closed_bytes_each": ("Bytes of memory that stay after a handoff", "0"),
    "abandoned_bytes_each": ("Bytes of memory that stay after a handoff that nobody closes", "0"),
    "langchain_over_openinference": (
        "What watching a LangChain query adds, over what OpenInference adds to it",
        "≤ 0.6",
    ),
    "llama_index_over_openinference": ("The same with LlamaIndex", "≤ 0.6"),
    "haystack_over_openinference": ("The same with Haystack", "≤ 0.6"),
    "added_over_plain": ("What it adds to a request of examples/fastapi-rag, over what the same spans add", "≤ 1.35"),
}
"""Name of a result to what it says and its aim."""


def measured() -> dict[str, float]:
    """Return the results that the benchmarks printed as JSON lines; none where they were not run."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.is_file() else []
    found: dict[str, float] = {}
    for line in lines:
        if line.startswith("{"):
            found |= json.loads(line)
    return found


def render(results: dict[str, float]) -> str:
    """Return the README's table.

    >>> render({"disabled_us": 0.412}).splitlines()[5]
    '| Switched off: microseconds per decorated call, over the bare function | ≤ 1.5 | 0.41 |'
    """
    rows = [
        f"| {what} | {aim} | {f'{results[name]:.2f}' if name in results else UNMEASURED} |"
        for name, (what, aim) in FIGURES.items()
    ]
    return "\n".join(["| what | aim | measured |", "| --- | --- | --- |", *rows]) + "\n"


def quoted(markdown: str) -> str:
    """Return the table that stands in a README."""
    return markdown.partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(before + BEGIN + render(measured()) + END + after, encoding="utf-8")
