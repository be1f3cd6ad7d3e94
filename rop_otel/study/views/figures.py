"""The three plots of a study, over the rows of all selectors: a set of them for each query form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rop_otel.study.frozen_study import RankingName
from rop_otel.study.rule_transitions import KINDS, transitions
from rop_otel.study.tables.losses import missing_shares
from rop_otel.study.tables.study_table import Grid, counted, share, share_range
from rop_otel.study.tables.table_context import Context, Share, rounded
from rop_otel.study.views import plots
from rop_otel.study.views.study_page import Figure

_Shares = Mapping[tuple[RankingName, int], Share]


def figures(context: Context) -> Iterator[Figure]:
    """Yield the plots; none where no selection resolves."""
    if not context.whole.resolved:
        return
    shares = missing_shares(context, context.whole.resolved)
    for number, form in enumerate(dict.fromkeys(name.form for name in context.study.rankings)):
        names = [name for name in context.study.rankings if name.form == form]
        yield _losses(context, names, shares, f"losses-{number}")
        if len(names) > 1:
            yield _transitions(context, names, shares, f"transitions-{number}")
        yield _survival(context, names, f"survival-{number}")


def _losses(context: Context, names: Sequence[RankingName], shares: _Shares, name: str) -> Figure:
    title = f"Query form {names[0].form}: selected object missing at {context.reader}, by rule, with 95 % intervals"
    here = {each.rule: shares[each, context.reader] for each in names}
    counts = {rule: counted(found.count, found.n, found.lost) for rule, found in here.items()}
    rows = [
        plots.Loss(name=rule, text=counts[rule], rate=found.rate or 0, interval=found.interval)
        for rule, found in here.items()
    ]
    cells = [
        [rule, counts[rule], share_range(found.rate, rounded(found.interval), lost=found.lost, n=found.n)]
        for rule, found in here.items()
    ]
    grid = Grid(header=["rule", "missing", "rate [95 %]"], rows=cells)
    return Figure(title=title, svg=plots.losses(rows, title=title, name=name), grid=grid)


def _transitions(context: Context, names: Sequence[RankingName], shares: _Shares, name: str) -> Figure:
    """Return the plot of what becomes of each row from the rule that misses most to each other one."""
    first = max(names, key=lambda each: shares[each, context.reader].count)
    found = transitions(context, before=first.rule, after=None, form=first.form)["transitions"]
    whole = [row for row in found if row["selector"] == context.whole.name]
    kinds = {kind: kind.replace("_", " ") for kind in (*KINDS.values(), "unverifiable")}
    at = {row["to"]: row["at"][str(context.reader)] for row in whole}
    counts = {rule: {kinds[kind]: found[kind] for kind in kinds} for rule, found in at.items()}
    title = f"Query form {first.form}: from {first.rule} to each other rule, at {context.reader}"
    grid = Grid(header=["to", *kinds.values()], rows=[[to, *map(str, each.values())] for to, each in counts.items()])
    return Figure(title=title, svg=plots.stacks(counts, title=title, name=name), grid=grid, legend=[*kinds.values()])


def _survival(context: Context, names: Sequence[RankingName], name: str) -> Figure:
    rows, depth = context.whole.resolved, context.study.depth
    series = {}
    for each in names:
        ranks = [outcome.rank for outcome in context.judged(each).of(rows) if outcome.judged]
        series[each.rule] = [sum(0 < rank <= k for rank in ranks) / len(rows) for k in range(1, depth + 1)]
    title = f"Query form {names[0].form}: share of selected objects within each cutoff, by rule"
    cutoffs = sorted({*context.cutoffs, depth})
    cells = [[rule, *(share(shares[cutoff - 1]) for cutoff in cutoffs)] for rule, shares in series.items()]
    grid = Grid(header=["rule", *(f"at {cutoff}" for cutoff in cutoffs)], rows=cells)
    return Figure(title=title, svg=plots.survival(series, title=title, name=name), grid=grid)
