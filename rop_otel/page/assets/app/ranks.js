// Where everything of the rank chart stands: columns, ranks, the way of each document. No drawing, no markup.
"use strict";
(function (rop) {
  const SHOWN = "shown";
  const FIRST = 10; // ranks that keep their full height
  const STEP = 21; // of one of them, in pixels
  const BEND = 46; // how soon the scale of the further ranks gets narrow
  const TOP_OF_LISTS = 10; // of each list drawn at first
  const TICKS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

  // The height of a rank: even for the first ten, then narrower and narrower, without a jump.
  rop.rankHeight = (rank) => (rank <= FIRST ? (rank - 1) * STEP : (FIRST - 1) * STEP + BEND * Math.log1p(((rank - FIRST) * STEP) / BEND));
  rop.rankTicks = (deepest) => TICKS.filter((rank) => rank <= deepest);

  function ranksOf(ids) {
    const ranks = new Map();
    (ids || []).forEach((id, index) => { if (id !== "" && !ranks.has(id)) ranks.set(id, index + 1); });
    return ranks;
  }

  function stageColumn(stage) {
    return {
      key: stage.place, stage, title: stage.stage, name: stage.name, round: stage.round, reader: stage.stage === "reader",
      ids: stage.ids, ranks: ranksOf(stage.ids), returned: stage.returned, feeds: stage.feeds || [],
      input: stage.input ? new Set(stage.input) : null, dropped: stage.dropped ? new Set(stage.dropped) : null, status: stage.status, reason: stage.reason,
      cut: stage.ids !== null && stage.returned !== null && stage.returned > stage.ids.length, scores: stage.scores,
    };
  }

  // The stages in order, what the reader was shown, then what the response attaches.
  rop.columnsOf = (detail) => {
    const columns = detail.stages.map(stageColumn);
    const after = columns.filter((column) => column.reader && column.round === null);
    const { shown } = detail;
    const last = {
      key: SHOWN, title: "reader is shown", name: null, round: null, ids: shown.ids, ranks: ranksOf(shown.ids), returned: shown.ids.length,
      feeds: shown.places || [], input: null, status: shown.basis ? "ok" : "unreadable", reason: shown.basis ? null : "nobody knows", cut: false, hollow: shown.hollow,
    };
    for (const reader of after) reader.feeds = [SHOWN];
    return [...columns.filter((column) => !after.includes(column)), last, ...after];
  };

  // Brackets above the columns: rounds, what runs in parallel, what a stage encloses. Outermost first.
  rop.bracketsOf = (columns) => {
    const brackets = [];
    const at = new Map(columns.map((column, index) => [column.key, index]));
    const span = (members, words, kind) => {
      const places = members.map((key) => at.get(key)).filter((place) => place !== undefined);
      if (places.length > 1) brackets.push({ from: Math.min(...places), to: Math.max(...places), words, kind });
    };
    const rounds = new Set(columns.map((column) => column.round).filter((round) => round !== null));
    for (const round of rounds) span(columns.filter((column) => column.round === round).map((column) => column.key), `round ${round}`, "round");
    for (const column of columns) {
      if (!column.stage) continue;
      const inside = columns.filter((other) => other.stage && other.stage.parent === column.key).map((other) => other.key);
      if (inside.length) span([...inside, column.key], `inside ${rop.visible(column.name || column.title, 24)}`, "nest");
      const arms = column.feeds.map((feed) => columns[at.get(feed)]).filter((arm) => arm && arm.stage);
      const apart = arms.every((arm) => arm.round === arms[0].round && !arms.some((other) => other.feeds.includes(arm.key)));
      if (arms.length > 1 && apart) span(arms.map((arm) => arm.key), "in parallel", "arms");
    }
    return brackets.sort((one, other) => other.to - other.from - (one.to - one.from));
  };

  // What a document did at a column that one of the columns before it feeds.
  function ending(column, id) {
    if (column.ids === null) return "unknown";
    if (column.cut) return "beyond";
    if (column.input && !column.input.has(id)) return "on the way";
    return column.dropped && column.dropped.has(id) ? "dropped" : null;
  }

  // The way of one document: its points, the lines between them and where they end.
  rop.wayOf = (id, columns) => {
    const byKey = new Map(columns.map((column) => [column.key, column]));
    const points = [], lines = [], ends = [];
    for (const column of columns) {
      const rank = column.ranks.get(id);
      let came = false;
      for (const feed of column.feeds) {
        const before = byKey.get(feed);
        const from = before && before.ranks.get(id);
        if (!from) continue;
        if (rank) { lines.push({ from: [before.key, from], to: [column.key, rank] }); came = true; }
        else if (ending(column, id)) ends.push({ from: [before.key, from], at: column.key, how: ending(column, id) });
      }
      if (rank) points.push({ at: column.key, rank, first: !came, hollow: column.hollow ? column.hollow[rank - 1] === true : false });
    }
    return { id, points, lines, ends };
  };

  // Which documents are drawn: those that matter at first, in order of their first place.
  rop.drawnOf = (detail, columns, all) => {
    const every = new Set();
    for (const column of columns) for (const id of column.ranks.keys()) every.add(id);
    const selected = new Set(detail.selected_ids || []), judged = new Set(detail.judged_ids || []);
    const wanted = new Set([...selected, ...judged, ...detail.shown.ids]);
    for (const finding of detail.findings) for (const id of finding.ids.slice(0, 50)) wanted.add(id);
    for (const column of columns) for (const id of (column.ids || []).slice(0, TOP_OF_LISTS)) wanted.add(id);
    const drawn = [...every].filter((id) => all || wanted.has(id));
    const kind = (id) => (selected.has(id) ? "selected" : judged.has(id) ? "judged" : "other");
    return { drawn: drawn.map((id) => ({ ...rop.wayOf(id, columns), kind: kind(id) })), others: every.size - drawn.length, every: every.size };
  };

  // Ranks and scores of one document, a cell for each column, with the word for where it ended.
  rop.trailOf = (way, columns) => {
    const at = new Map(way.points.map((point) => [point.at, point]));
    const ended = new Map(way.ends.map((end) => [end.at, end]));
    return columns.map((column) => {
      const point = at.get(column.key);
      const place = point ? point.rank - 1 : -1;
      const of = (list) => (point && list ? list[place] : null);
      const stage = column.stage || {};
      return {
        key: column.key, rank: point ? point.rank : null, end: point ? null : (ended.get(column.key) || {}).how || null, hollow: point ? point.hollow : false,
        score: of(stage.scores), scope: of(stage.scopes), tokens: of(stage.tokens),
      };
    });
  };
  rop.isLoss = (end) => end === "dropped" || end === "on the way";
  rop.ENDINGS = { dropped: "dropped", "on the way": "cut on the way", unknown: "not known", beyond: "beyond the record" };
})((window.rop = window.rop || {}));
