// Which rows a filter lets through. A filter is the parameters of the address, text each.
"use strict";
(function (rop) {
  const NONE = "-";
  const same = (value, wanted) => (value === null || value === undefined ? NONE : String(value)) === wanted;
  const holds = (ids, wanted) => (ids || []).some((id) => id.toLowerCase().includes(wanted.toLowerCase()));

  const texts = new WeakMap();
  function textOf(row) {
    if (!texts.has(row)) {
      const parts = [row.record_id, row.handoff_id, row.trace_id, row.run_id, ...(row.selected || []), ...(row.judged || [])];
      texts.set(row, parts.filter(Boolean).join("\n").toLowerCase());
    }
    return texts.get(row);
  }

  rop.droppedAt = (row) => rop.place(row.dropped_at, row.dropped_at_name, row.dropped_at_round) || NONE;
  const lossAt = ([stage, name, round]) => rop.place(stage, name, round) || NONE;

  // "mmr:0" lets through where the list of mmr, as the survival of this set has it, does not hold the object.
  function marked(field) {
    return (row, wanted, set) => {
      const split = wanted.lastIndexOf(":");
      const place = rop.survivalPlaces(set).indexOf(wanted.slice(0, split));
      return place >= 0 && (row[field] || "")[place] === wanted.slice(split + 1);
    };
  }

  rop.TESTS = {
    q: (row, wanted) => textOf(row).includes(wanted.toLowerCase().trim()),
    verdict: (row, wanted) => same(row.verdict, wanted),
    at: (row, wanted) => Boolean(row.drop_cause) && same(rop.droppedAt(row), wanted),
    cause: (row, wanted) => same(row.drop_cause, wanted),
    finding: (row, wanted) => row.findings.some(([code, stage]) => code === wanted || `${code}@${stage}` === wanted),
    name: (row, wanted) => same(row.handoff_name, wanted),
    service: (row, wanted) => same(row.service, wanted),
    record: (row, wanted) => (row.record_id || "").toLowerCase().includes(wanted.toLowerCase().trim()),
    object: (row, wanted) => holds(row.selected, wanted.trim()) || holds(row.judged, wanted.trim()),
    run: (row, wanted) => same(row.run_id, wanted),
    selected: marked("selected_at"),
    judged: marked("judged_at"),
    judged_loss: (row, wanted) => (row.judged_losses || []).some((lost) => `${lossAt(lost)}:${lost[3]}` === wanted),
    citation: (row, wanted) => ((row.citations || [])[rop.OUTCOMES.indexOf(wanted)] || 0) > 0,
  };
  rop.FILTERS = Object.keys(rop.TESTS);

  rop.survivalPlaces = (set) => rop.feed.head().sets[set].summary.survival.map(rop.placeOf);
  rop.filterOf = (params) => Object.fromEntries(rop.FILTERS.filter((name) => params[name]).map((name) => [name, params[name]]));

  // The places in the set of the rows that a filter lets through, in order.
  rop.filtered = (rows, filter, set) => {
    const tests = Object.entries(filter).map(([name, wanted]) => [rop.TESTS[name], wanted]);
    const kept = [];
    rows.forEach((row, index) => {
      if (tests.every(([test, wanted]) => test(row, wanted, set))) kept.push(index);
    });
    return kept;
  };

  const VALUES = {
    verdict: (row) => [row.verdict],
    at: (row) => (row.drop_cause ? [rop.droppedAt(row)] : []),
    cause: (row) => (row.drop_cause ? [row.drop_cause] : []),
    finding: (row) => new Set(row.findings.flatMap(([code, stage]) => [code, `${code}@${stage}`])),
    name: (row) => [row.handoff_name],
    service: (row) => [row.service],
  };
  // For each choice of a filter how many rows it would let through beside the other filters, the most first.
  rop.choices = (rows, filter, set, name) => {
    const { [name]: _, ...others } = filter;
    const counts = new Map();
    for (const index of rop.filtered(rows, others, set))
      for (const value of VALUES[name](rows[index])) {
        const key = value === null || value === undefined ? NONE : String(value);
        counts.set(key, (counts.get(key) || 0) + 1);
      }
    return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
  };
})((window.rop = window.rop || {}));
