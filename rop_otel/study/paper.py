"""The paper's published figures, as shares, and why others may differ from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A figure, or the least and the greatest of the paper's three selectors.

    Args:
        table: The table that it stands in.
        form: The query form.
        rule: The handoff rule, by our name.
        measure: What is counted.
        at: The cutoff.
        low: The share, or the least.
        high: The greatest; the same for a figure that is pooled.
    """

    table: int
    form: str
    rule: str
    measure: str
    at: int
    low: float
    high: float


_FIGURES: Final = """
5 title key missing 5 0/1463
5 title title missing 5 0/1463
5 title bm25_title missing 5 66/1463
5 title bm25_title_body missing 5 284/1463
5 title bm25_body missing 5 389/1463
5 title dense missing 5 65/1463
5 title maxsim missing 5 20/1463
5 title rrf missing 5 148/1463
5 title rrf_rerank missing 5 14/1463
6 title bm25_body missing 5 133/509 125/456
6 title dense missing 5 20/456 23/509
6 title maxsim missing 5 6/456 7/498
6 title rrf missing 5 51/509 47/456
6 title rrf_rerank missing 5 4/456 5/498
8 question bm25_body both 5 19/329
8 question bm25_body selected_only 5 78/329
8 question bm25_body trace_only 5 28/329
8 question bm25_body neither 5 204/329
8 rewrite bm25_body both 5 48/329
8 rewrite bm25_body selected_only 5 140/329
8 rewrite bm25_body trace_only 5 35/329
8 rewrite bm25_body neither 5 106/329
8 retrieval_fact bm25_body both 5 43/329
8 retrieval_fact bm25_body selected_only 5 213/329
8 retrieval_fact bm25_body trace_only 5 4/329
8 retrieval_fact bm25_body neither 5 69/329
8 title bm25_body both 5 42/329
8 title bm25_body selected_only 5 210/329
8 title bm25_body trace_only 5 3/329
8 title bm25_body neither 5 74/329
13 title title missing 1 0/286270
13 title title missing 5 0/286270
13 title title missing 20 0/286270
13 title bm25_title missing 1 15379/286270
13 title bm25_title missing 5 7667/286270
13 title bm25_title missing 20 5258/286270
14 title bm25_body returned 1 .506 .524
14 title bm25_body returned 5 .725 .750
14 title bm25_body returned 20 .840 .855
14 title dense returned 1 .773 .778
14 title dense returned 5 .955 .958
14 title dense returned 20 .983 .988
14 title maxsim returned 1 .881 .896
14 title maxsim returned 5 .983 .988
14 title maxsim returned 20 .990 .992
14 title rrf returned 1 .674 .699
14 title rrf returned 5 .891 .902
14 title rrf returned 20 .966 .972
14 title rrf_rerank returned 1 .855 .856
14 title rrf_rerank returned 5 .990 .992
14 title rrf_rerank returned 20 .995 .995
18 title bm25_body different 1 209/329
18 title bm25_body different 5 213/329
18 title bm25_body different 20 214/329
18 title dense different 1 269/329
18 title dense different 5 284/329
18 title dense different 20 276/329
18 title maxsim different 1 303/329
18 title maxsim different 5 285/329
18 title maxsim different 20 261/329
18 title rrf different 1 245/329
18 title rrf different 5 258/329
18 title rrf different 20 258/329
18 title rrf_rerank different 1 303/329
18 title rrf_rerank different 5 278/329
18 title rrf_rerank different 20 255/329
19 title bm25_body absent 5 150/599 165/599
19 title bm25_body near 5 59/594 69/599
19 title bm25_body nonmatch 5 4/599 5/594
19 title bm25_body unresolved 5 83/599 91/599
20 question bm25_body returned 5 .183
20 question dense returned 5 .183
20 question maxsim returned 5 .185
20 question rrf returned 5 .230
20 question rrf_rerank returned 5 .358
20 title bm25_body returned 5 .580 .648
20 title dense returned 5 .745 .827
20 title maxsim returned 5 .772 .858
20 title rrf returned 5 .702 .782
20 title rrf_rerank returned 5 .777 .868
22 question bm25_body returned 5 .213
22 question dense returned 5 .192
22 question maxsim returned 5 .236
22 question rrf returned 5 .243
22 question rrf_rerank returned 5 .359
22 title bm25_body returned 5 .765
22 title dense returned 5 .957
22 title maxsim returned 5 .992
22 title rrf returned 5 .892
22 title rrf_rerank returned 5 .993
"""

_OUTCOMES: Final = ("both", "selected_only", "trace_only", "neither")
_POOLED: Final = """
bm25_body 1 0/204/5/120
bm25_body 5 42/210/3/74
bm25_body 20 61/214/0/54
dense 1 0/269/0/60
dense 5 31/284/0/14
dense 20 46/276/0/7
maxsim 1 0/303/0/26
maxsim 5 39/285/0/5
maxsim 20 66/261/0/2
rrf 1 0/244/1/84
rrf 5 34/258/0/37
rrf 20 58/258/0/13
rrf_rerank 1 0/303/0/26
rrf_rerank 5 48/278/0/3
rrf_rerank 20 73/255/0/1
"""
"""Table 17's pooled counts, of 329 records; those at 5 are also table 16."""


def _figure(line: str) -> Published:
    table, form, rule, measure, at, *shares = line.split()
    values = [float(Fraction(each)) for each in shares]
    return Published(
        table=int(table), form=form, rule=rule, measure=measure, at=int(at), low=values[0], high=values[-1]
    )


def _pooled() -> list[str]:
    lines = []
    for line in _POOLED.strip().splitlines():
        rule, at, counts = line.split()
        for table in (16, 17) if at == "5" else (17,):
            each = zip(_OUTCOMES, counts.split("/"), strict=True)
            lines += [f"{table} title {rule} {measure} {at} {count}/329" for measure, count in each]
    return lines


PUBLISHED: Final = tuple(map(_figure, [*_FIGURES.strip().splitlines(), *_pooled()]))
"""Every figure that a rule, a query form and a cutoff of ours can stand beside."""

REASONS: Final = {
    "corpus": "another corpus: the paper's has 286,270 passages, linked from 15,314 tables",
    "selections": "other selections: the paper's were made by three language models on 600 HybridQA questions; a range "
    "is over the three",
    "cohort": "other rows: tables 5 to 7 of the paper take those with U = G alone, ours each whose U is in the corpus",
    "title_index": "the paper does not say whether its title index is a table of its own; bm25() counts the length of "
    "the whole row, so that bodies beside the titles change the order",
    "dense": "another dense model: the paper's is BGE-M3, ours MiniLM unless the manifest says otherwise",
    "maxsim": "another late interaction: the paper's is ColBERTv2, ours MaxSim over MiniLM's token vectors",
    "rrf": "other lists are fused: the dense and the late-interaction list come from other models",
    "rrf_rerank": "another reranker, over other fused lists: the paper's is BGE-reranker-v2-m3",
}
"""Why a figure may differ, by a short name."""
