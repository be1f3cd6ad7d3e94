// Two sets of handoffs paired by record: what was kept, recovered, lost and missed by both. No markup.
"use strict";
(function (rop) {
  rop.FATES = ["lost", "recovered", "missed", "kept", "undecided"];
  rop.FATE_WORDS = {
    kept: "kept: there in both", recovered: "recovered: only in B", lost: "lost: only in A", missed: "missed by both", undecided: "not known in one of them",
  };

  // "1" the object was there, "0" it was not, anything else: not known.
  rop.fate = (before, after) => {
    if (!"01".includes(before) || !"01".includes(after) || !before || !after) return "undecided";
    return before === "1" ? (after === "1" ? "kept" : "lost") : after === "1" ? "recovered" : "missed";
  };

  const arrived = (row) => (row.verdict === "PASS" ? "1" : row.verdict === "FAIL" ? "0" : "-");

  function byRecord(rows, indexes) {
    const found = new Map();
    let repeated = 0, unnamed = 0;
    for (const index of indexes) {
      const { record_id: record } = rows[index];
      if (record === null || record === undefined) unnamed += 1;
      else if (found.has(record)) repeated += 1;
      else found.set(record, index);
    }
    return { found, repeated, unnamed };
  }

  // Each side: {rows, indexes, places}. Returns the pairs with the fate of their verdicts, and of each stage that both have.
  rop.paired = (a, b) => {
    const one = byRecord(a.rows, a.indexes), other = byRecord(b.rows, b.indexes);
    const pairs = [];
    for (const [record, index] of one.found) {
      if (!other.found.has(record)) continue;
      const before = a.rows[index], after = b.rows[other.found.get(record)];
      pairs.push({ record, a: index, b: other.found.get(record), before, after, fate: rop.fate(arrived(before), arrived(after)) });
    }
    const places = a.places.filter((place) => b.places.includes(place));
    const stages = places.map((place) => {
      const counts = Object.fromEntries(rop.FATES.map((fate) => [fate, 0]));
      for (const pair of pairs) counts[rop.stageFate(pair, place, a, b)] += 1;
      return { place, counts };
    });
    const only = (these, those) => [...these.keys()].filter((record) => !those.has(record)).length;
    return {
      pairs, stages, onlyA: only(one.found, other.found), onlyB: only(other.found, one.found),
      repeated: one.repeated + other.repeated, unnamed: one.unnamed + other.unnamed,
    };
  };
  rop.stageFate = (pair, place, a, b) =>
    rop.fate((pair.before.selected_at || "")[a.places.indexOf(place)] || "-", (pair.after.selected_at || "")[b.places.indexOf(place)] || "-");
})((window.rop = window.rop || {}));
