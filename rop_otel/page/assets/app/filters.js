// Which rows a filter lets through. A filter is the parameters of the address, text each.
"use strict";
(function (rop) {
  const NONE = "-";
  const OF_KIND = "/*"; // rerank/* is every place of the kind rerank, whatever its name and round
  const TIMES = ["past", "since", "until"]; // asked of a server only
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

  // Whether a row's list of a place holds the object: "1", "0", or "-" where that is not known.
  rop.mark = (row, field, place) => (row[field] || "")[row.places.indexOf(place)] || NONE;
  // "mmr:0" lets through where the list of mmr does not hold the object.
  function marked(field) {
    return (row, wanted) => {
      const split = wanted.lastIndexOf(":");
      return row.places.includes(wanted.slice(0, split)) && rop.mark(row, field, wanted.slice(0, split)) === wanted.slice(split + 1);
    };
  }

  rop.TESTS = {
    q: (row, wanted) => textOf(row).includes(wanted.toLowerCase().trim()),
    verdict: (row, wanted) => same(row.verdict, wanted),
    at: (row, wanted) => Boolean(row.drop_cause) && (wanted.endsWith(OF_KIND) ? same(row.dropped_at, wanted.slice(0, -OF_KIND.length)) : same(rop.droppedAt(row), wanted)),
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

  const names = () => [...Object.keys(rop.TESTS), ...(rop.feed.live ? TIMES : [])];
  rop.filterOf = (params) => Object.fromEntries(names().filter((name) => params[name]).map((name) => [name, params[name]]));
  const OTHERS = ["set", "sort", "page", "depth", "n"]; // what an address says of a table beside its filters
  rop.unknownIn = (params) => Object.keys(params).filter((name) => !names().includes(name) && !OTHERS.includes(name));
  // The set that an address names; a server has one.
  rop.setOf = (named) => Math.max(0, Math.min(Math.trunc(Number(named)) || 0, (rop.feed.head().sets || [0]).length - 1));

  // The rows that a filter lets through, in order.
  rop.filtered = (rows, filter) => {
    const tests = Object.entries(filter).filter(([name]) => rop.TESTS[name]).map(([name, wanted]) => [rop.TESTS[name], wanted]);
    return rows.filter((row) => tests.every(([test, wanted]) => test(row, wanted)));
  };

  const SORTS = {
    record: (row) => row.record_id ?? row.handoff_id,
    verdict: (row) => row.verdict ?? "",
    lost: (row) => (row.drop_cause ? `${rop.droppedAt(row)} ${row.drop_cause}` : "\uffff"),
    rank: (row) => row.selected_rank ?? Infinity,
    duration: (row) => -(row.duration ?? -1),
    start: (row) => row.start ?? Infinity,
  };
  rop.sortOf = (named) => (Object.hasOwn(SORTS, named) ? named : "");
  // Rows in another order; those that are equal by it stay as they were.
  rop.sorted = (rows, sort) => {
    const key = SORTS[rop.sortOf(sort)];
    if (!key) return rows;
    return rows.map((row) => [key(row), row]).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, row]) => row);
  };
})((window.rop = window.rop || {}));
