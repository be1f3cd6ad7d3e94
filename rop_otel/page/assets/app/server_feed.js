// Where the views get their data: the API of the monitor that serves this page.
"use strict";
(function (rop) {
  const HOUR = 3600;
  const PAST = { hour: 1, day: 24, week: 168 };
  const TOTALS = ["name", "service", "run", "since", "until"];
  const ASKED = ["q", "verdict", "at", "cause", "finding", "record", "object", ...TOTALS];
  const WINDOW = 2000; // handoffs that are looked through where only this page knows the filter or the order
  const PAGE = 100;
  const PATIENCE = 2_000; // for so long rare handoffs are looked for at once
  const FRESH = 30_000; // for so long an answer may be given again
  const AGAIN = 5_000; // after so long a stream that was refused is asked for again
  let head;

  const query = (params) => new URLSearchParams(Object.entries(params).filter(([, value]) => value !== null && value !== undefined)).toString();

  async function ask(path, params = {}) {
    const asked = query(params);
    let answer;
    try { answer = await fetch(`api/${path}${asked ? `?${asked}` : ""}`, { cache: "no-store" }); } catch { throw new Error("The monitor does not answer."); }
    if (answer.status === 404) return null;
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(`The monitor answers: ${body.error || `status ${answer.status}`}.`);
    return body;
  }

  const given = (filter, names) => Object.fromEntries(names.filter((name) => filter[name]).map((name) => [name, filter[name]]));
  // "The last day" begins with an hour, as the totals do, so that both mean the same handoffs.
  const sinceOf = (past) => (Object.hasOwn(PAST, past) ? Math.floor(Date.now() / 1000 / HOUR - PAST[past]) * HOUR : undefined);
  const timed = ({ past, ...filter }) => ({ since: sinceOf(past), ...filter });

  const kept = new Map();
  // The same question within a short time has the same answer, until someone asks anew.
  function once(path, params) {
    const key = `${path}?${query(params)}`;
    const known = kept.get(key);
    if (known && Date.now() - known.at < FRESH) return known.answer;
    const answer = ask(path, params);
    kept.set(key, { at: Date.now(), answer });
    answer.catch(() => kept.delete(key));
    return answer;
  }

  // The newest handoffs of the last filter, as far as they were asked for.
  let newest = { key: null };
  async function upTo(most, filter) {
    const key = query(filter);
    if (newest.key !== key || Date.now() - newest.at > FRESH) newest = { key, at: Date.now(), filter: timed(filter), rows: [], after: undefined, turn: Promise.resolve() };
    const mine = newest;
    mine.turn = mine.turn.then(async () => {
      const end = Date.now() + PATIENCE;
      while (mine.rows.length < most && mine.after !== null && Date.now() < end) {
        const answer = await ask("handoffs", { ...mine.filter, limit: Math.min(WINDOW, most - mine.rows.length), after: mine.after });
        mine.rows.push(...answer.handoffs.map((row) => Object.assign(row, { places: answer.places })));
        mine.after = answer.after;
      }
    });
    try { await mine.turn; } catch (error) { mine.key = null; throw error; }
    return mine;
  }

  async function rows({ filter, sort, page = 1, depth = 1 }) {
    const own = Object.keys(filter).some((name) => rop.TESTS[name] && !ASKED.includes(name)) || rop.sortOf(sort) !== "";
    const most = own ? depth * WINDOW : page * PAGE;
    const found = await upTo(most, given(filter, [...ASKED, "past"]));
    return { rows: rop.sorted(rop.filtered(found.rows, own ? given(filter, Object.keys(rop.TESTS).filter((name) => !ASKED.includes(name))) : {}), sort), scanned: own ? found.rows.length : null, more: found.after !== null, tired: found.after !== null && found.rows.length < most };
  }

  async function choices({ filter }) {
    const { summary, choices: known } = await once("summary", timed(given(filter, ["since", "until", "past"])));
    const each = (values) => [...new Set(values)].map((value) => [value, null]);
    return {
      verdict: each(Object.keys(summary.verdicts)), at: each(summary.losses.filter(({ count }) => count).map((loss) => rop.placeOf(loss) || "-")), cause: each(summary.losses.filter(({ count }) => count).map(({ cause }) => cause)),
      finding: each([...summary.findings.map(({ code }) => code), ...summary.findings.map(({ code, stage }) => `${code}@${stage}`)]), name: each(known.name), service: each(known.service), run: each(known.run),
    };
  }

  // How many were lost at a place for a cause, as the totals have it.
  async function count({ filter: { at, cause, ...filter } }) {
    const { summary } = await once("summary", timed(filter));
    return summary.losses.filter((loss) => (rop.placeOf(loss) || "-") === at && loss.cause === cause).reduce((sum, loss) => sum + loss.count, 0);
  }

  async function compare({ a, b }) {
    const [before, after] = [a, b].map(({ filter }) => query(timed(given(filter, [...ASKED, "past"]))));
    const found = await ask("compare", { before, after });
    const records = (fate) => found.records[fate].map(([record, one, other]) => ({ record, fate, before: { handoff_id: one }, after: { handoff_id: other } }));
    return {
      ...found, size: found.pairs, pairs: [...records("lost"), ...records("recovered")], counts: found,
      stages: found.places.map(({ place, ...counts }) => ({ place, counts })), onlyA: found.only_before, onlyB: found.only_after,
    };
  }

  // Reports what is settled until the returned function is called. A lost connection is reported, and tried again.
  function stream({ settled, state }) {
    let source, timer = 0;
    const open = () => {
      source = new EventSource("api/stream");
      source.onopen = () => state("live");
      source.onerror = () => {
        state("lost");
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN);
      };
      source.addEventListener("settled", (event) => settled(JSON.parse(event.data)));
    };
    open();
    return () => { clearTimeout(timer); source.close(); };
  }

  rop.feed = {
    live: true,
    open: async () => { head = await ask("head"); },
    head: () => head,
    stored: async () => (await ask("handoffs", { limit: 1 })).handoffs.length,
    totals: ({ filter }) => once("summary", timed(given(filter, [...TOTALS, "past"]))),
    rows, choices, count, compare, stream,
    handoff: ({ id }) => ask(`handoffs/${encodeURIComponent(id)}`),
    runs: () => ask("runs"),
    run: (id) => ask(`runs/${encodeURIComponent(id)}`),
    // From here on everything is asked anew.
    refresh: () => { kept.clear(); newest = { key: null }; },
  };
})((window.rop = window.rop || {}));
