// Two sets of handoffs paired by record: what was kept, recovered, lost and missed by both. No markup.
"use strict";
(function (rop) {
  rop.FATES = ["lost", "recovered", "missed", "kept", "undecided"];
  rop.FATE_WORDS = {
    kept: "kept: there in both", recovered: "recovered: only in B", lost: "lost: only in A", missed: "missed by both", undecided: "not known in one of them",
  };

  // "1" the object was there, "0" it was not, anything else: not known.
  function fate(before, after) {
    if (!"01".includes(before) || !"01".includes(after)) return "undecided";
    return before === "1" ? (after === "1" ? "kept" : "lost") : after === "1" ? "recovered" : "missed";
  }
  rop.stageFate = (pair, place) => fate(rop.mark(pair.before, "selected_at", place), rop.mark(pair.after, "selected_at", place));

  const arrived = (row) => (row.verdict === "PASS" ? "1" : row.verdict === "FAIL" ? "0" : "-");
  const none = () => Object.fromEntries(rop.FATES.map((each) => [each, 0]));

  function byRecord(rows) {
    const found = new Map();
    let repeated = 0, unnamed = 0;
    for (const row of rows) {
      const { record_id: record } = row;
      if (record === null || record === undefined) unnamed += 1;
      else if (found.has(record)) repeated += 1;
      else found.set(record, row);
    }
    return { found, repeated, unnamed };
  }

  // Each side: {rows, places}. The pairs with the fate of their verdicts, and of each stage that both have.
  rop.paired = (a, b) => {
    const one = byRecord(a.rows), other = byRecord(b.rows);
    const pairs = [], counts = none();
    for (const [record, before] of one.found) {
      if (!other.found.has(record)) continue;
      const after = other.found.get(record);
      pairs.push({ record, before, after, fate: fate(arrived(before), arrived(after)) });
      counts[pairs.at(-1).fate] += 1;
    }
    const stages = a.places.filter((place) => b.places.includes(place)).map((place) => {
      const there = none();
      for (const pair of pairs) there[rop.stageFate(pair, place)] += 1;
      return { place, counts: there };
    });
    const only = (these, those) => [...these.keys()].filter((record) => !those.has(record)).length;
    return {
      size: pairs.length, pairs, counts, stages, onlyA: only(one.found, other.found), onlyB: only(other.found, one.found),
      repeated: one.repeated + other.repeated, unnamed: one.unnamed + other.unnamed, sizeA: a.rows.length, sizeB: b.rows.length,
    };
  };
})((window.rop = window.rop || {}));
