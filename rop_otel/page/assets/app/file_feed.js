// Where the views get their data: the blocks of this file. What is unpacked is answered at once.
"use strict";
(function (rop) {
  const BLOCK = 100;
  const element = (name) => document.querySelector(`script[data-block="${name}"]`);
  const blocks = new Map(), rows = new Map();
  let head;

  async function unpack(name) {
    const block = element(name);
    if (!block) throw new Error(`the block ${name} is missing`);
    if (!window.DecompressionStream) throw new Error("this browser is too old to unpack it; any browser since 2023 can");
    const bytes = Uint8Array.from(atob(block.textContent.trim()), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  function once(name) {
    if (!blocks.has(name)) blocks.set(name, unpack(name).catch((error) => { throw new Error(`This part of the file cannot be read: ${error.message}`); }));
    return blocks.get(name);
  }

  const placesOf = (set) => head.sets[set].summary.survival.map(rop.placeOf);
  // Each row knows its place in the set, and what its marks stand for.
  async function read(set) {
    const places = placesOf(set);
    rows.set(set, (await once(`set-${set}-rows`)).map((row, index) => Object.assign(row, { index, places })));
    return rows.get(set);
  }
  const withRows = (set, answer) => (rows.has(set) ? answer(rows.get(set)) : read(set).then(answer));

  const VALUES = {
    verdict: (row) => [row.verdict],
    at: (row) => (row.drop_cause ? [rop.droppedAt(row)] : []),
    cause: (row) => (row.drop_cause ? [row.drop_cause] : []),
    finding: (row) => new Set(row.findings.flatMap(([code, stage]) => [code, `${code}@${stage}`])),
    name: (row) => [row.handoff_name],
    service: (row) => [row.service],
  };
  // For each choice of a filter how many rows it would let through beside the other filters, the most first.
  function choices(all, filter, name) {
    const { [name]: _, ...others } = filter;
    const counts = new Map();
    for (const row of rop.filtered(all, others))
      for (const value of VALUES[name](row)) {
        const key = value === null || value === undefined ? "-" : String(value);
        counts.set(key, (counts.get(key) || 0) + 1);
      }
    return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
  }

  async function handoff({ set, id, index: guess }) {
    const all = await withRows(set, (found) => found);
    const meant = (row) => row && rop.addressed(row.handoff_id) === id;
    const row = meant(all[guess]) ? all[guess] : all.find(meant);
    if (!row) return null;
    const block = await once(`set-${set}-handoffs-${Math.floor(row.index / BLOCK)}`);
    return Object.assign(rop.unpack(block, row.index % BLOCK), { index: row.index });
  }

  const side = ({ set, filter }) => withRows(set, (all) => ({ rows: rop.filtered(all, filter), places: placesOf(set) }));

  rop.feed = {
    live: false,
    // Has to be done once, before anything is asked.
    open: async () => { head = JSON.parse(element("head").textContent); },
    head: () => head,
    // Zero where there is no handoff at all.
    stored: () => head.sets.reduce((sum, set) => sum + set.handoffs, 0),
    // What the handoffs of a set add up to.
    totals: ({ set }) => head.sets[set],
    // {rows, total}: those that the filter lets through, of how many. "more": there are further ones that were not looked at.
    rows: ({ set, filter, sort }) => withRows(set, (all) => ({ rows: rop.sorted(rop.filtered(all, filter), sort), total: all.length, more: false })),
    // {filter: [[choice, count]]}
    choices: ({ set, filter }) => withRows(set, (all) => Object.fromEntries(Object.keys(VALUES).map((name) => [name, choices(all, filter, name)]))),
    // Everything about one handoff; null where there is none.
    handoff,
    // How many handoffs a filter lets through.
    count: ({ set, filter }) => withRows(set, (all) => rop.filtered(all, filter).length),
    // Two questions paired by record.
    compare: async ({ a, b }) => rop.paired(await side(a), await side(b)),
  };
})((window.rop = window.rop || {}));
