// Before and after: two files, or two filters of one.
"use strict";
(function (rop) {
  const { html, useMemo, Id } = rop;
  const MOST = 200;
  const side = (params, name) => Object.fromEntries(Object.entries(params).filter(([key]) => key.startsWith(`${name}.`)).map(([key, value]) => [key.slice(2), value]));
  const sideSet = (params, name) => Math.min(Number(params[name] ?? (name === "a" ? 0 : 1)) || 0, rop.feed.head().sets.length - 1);

  function Side({ name, rows, set, params, count }) {
    const filter = rop.filterOf(side(params, name));
    const change = (key, value) => rop.replace(["compare"], { ...params, [`${name}.${key}`]: value });
    const choose = (chosen) => rop.replace(["compare"], { ...params, [name]: chosen });
    const link = (others) => {
      const rest = Object.fromEntries(Object.entries(params).filter(([key]) => !key.startsWith(`${name}.`)));
      return rop.link(["compare"], { ...rest, ...Object.fromEntries(Object.entries(others).map(([key, value]) => [`${name}.${key}`, value])) });
    };
    return html`<div class="side"><h2>${name === "a" ? "A, before" : "B, after"} <span class="note">${rop.visible(rop.feed.head().sets[set].name, 60)}, ${rop.counted(count, "handoff")}</span></h2>
      <${rop.SetChoice} set=${set} change=${choose} label=${`Set of ${name.toUpperCase()}`} />
      <details open=${Object.keys(filter).length > 0}><summary>Filters of ${name.toUpperCase()}</summary><${rop.FilterBar} rows=${rows} set=${set} filter=${filter} change=${change} label=${`Filters of ${name.toUpperCase()}`} /></details>
      <${rop.FilterChips} filter=${filter} link=${link} /></div>`;
  }

  function Matrix({ counts, params }) {
    const cell = (fate) => html`<td class=${`fate ${fate}`}><a href=${rop.link(["compare"], { ...params, fate, stage: "" })}><b>${rop.count(counts[fate])}</b> <span>${{ kept: "kept", lost: "lost", recovered: "recovered", missed: "missed by both" }[fate]}</span></a></td>`;
    return html`<table class="matrix"><caption class="unseen">Records by their verdict in A and in B</caption>
      <thead><tr><td></td><th scope="col">B: shown</th><th scope="col">B: not shown</th></tr></thead>
      <tbody><tr><th scope="row">A: shown</th>${cell("kept")}${cell("lost")}</tr><tr><th scope="row">A: not shown</th>${cell("recovered")}${cell("missed")}</tr></tbody></table>`;
  }

  // Lost to the left, recovered to the right of one line, so that a stage that changed is seen.
  function Stages({ stages, params }) {
    const most = Math.max(1, ...stages.map(({ counts }) => Math.max(counts.lost, counts.recovered)));
    const link = (place, fate, count) => (count ? html`<a href=${rop.link(["compare"], { ...params, stage: place, fate })}><b>${rop.count(count)}</b></a>` : html`<span class="faint">0</span>`);
    return html`<${rop.Scroll} label="Stage by stage"><table class="stages-compared">
      <thead><tr><th scope="col">stage</th><th scope="col" class="number">lost</th><th scope="col"><span class="unseen">lost to the left, recovered to the right</span></th><th scope="col">recovered</th><th scope="col" class="number">kept</th><th scope="col" class="number">missed by both</th><th scope="col" class="number">not known</th></tr></thead>
      <tbody>${stages.map(({ place, counts }) => html`<tr key=${place} class=${place === "shown" ? "total" : ""}><th scope="row">${rop.visible(rop.stageWords(place), 60)}</th>
        <td class="number">${link(place, "lost", counts.lost)}</td>
        <td class="both-ways"><svg viewBox="-100 0 200 10" preserveAspectRatio="none" aria-hidden="true"><rect class="lost" x=${(-100 * counts.lost) / most} width=${(100 * counts.lost) / most} height="10" /><rect class="recovered" x="0" width=${(100 * counts.recovered) / most} height="10" /><line x1="0" x2="0" y1="0" y2="10" /></svg></td>
        <td>${link(place, "recovered", counts.recovered)}</td><td class="number">${link(place, "kept", counts.kept)}</td><td class="number">${link(place, "missed", counts.missed)}</td><td class="number">${link(place, "undecided", counts.undecided)}</td></tr>`)}</tbody>
    </table></${rop.Scroll}>`;
  }

  const How = ({ row, index, set }) => html`<a href=${rop.handoffLink(row, index, { set: set || "" })}><${rop.Verdict} of=${row.verdict} /></a>${row.drop_cause ? html` <span class="cause">${row.dropped_at ? rop.visible(rop.droppedAt(row), 40) : "no stage"}, ${rop.visible(row.drop_cause)}</span>` : row.selected_rank ? html` <span class="faint">rank ${row.selected_rank}</span>` : ""}`;

  function Records({ pairs, params, sets }) {
    return html`<${rop.Scroll} label="Records" class="flat"><table class="handoffs">
      <thead><tr><th scope="col">Record</th><th scope="col">Fate</th><th scope="col">A, before</th><th scope="col">B, after</th><th scope="col">Selected object</th></tr></thead>
      <tbody>${pairs.slice(0, MOST).map((pair) => html`<tr key=${pair.record}><th scope="row"><bdi>${rop.visible(pair.record, 60)}</bdi></th>
        <td><span class=${`fate-word ${pair.shownFate}`}>${pair.shownFate === "missed" ? "missed by both" : pair.shownFate === "undecided" ? "not known" : pair.shownFate}</span></td>
        <td><${How} row=${pair.before} index=${pair.a} set=${sets.a} /></td><td><${How} row=${pair.after} index=${pair.b} set=${sets.b} /></td>
        <td class="ids">${(pair.after.selected || []).slice(0, 2).map((id) => html`<${Id} of=${id} /> `)}</td></tr>`)}</tbody>
    </table></${rop.Scroll}>${pairs.length > MOST ? html`<p class="note">The first ${MOST} of ${rop.count(pairs.length)}. Filters on A and B show fewer.</p>` : ""}`;
  }

  function Compared({ params, rows, sets }) {
    const of = (name) => {
      const filter = rop.filterOf(side(params, name));
      return { rows: rows[name], indexes: rop.filtered(rows[name], filter, sets[name]), places: rop.survivalPlaces(sets[name]) };
    };
    const { a, b, result } = useMemo(() => { const one = of("a"), other = of("b"); return { a: one, b: other, result: rop.paired(one, other) }; }, [rows.a, rows.b, JSON.stringify(params)]);
    const counts = Object.fromEntries(rop.FATES.map((fate) => [fate, result.pairs.filter((pair) => pair.fate === fate).length]));
    const fateOf = (pair) => (params.stage ? rop.stageFate(pair, params.stage, a, b) : pair.fate);
    const changed = (pair) => rop.FATES.indexOf(pair.shownFate);
    const pairs = result.pairs.map((pair) => ({ ...pair, shownFate: fateOf(pair) }))
      .filter((pair) => (params.fate ? pair.shownFate === params.fate : pair.shownFate !== "kept")).sort((one, other) => changed(one) - changed(other));
    const rest = [result.onlyA && `${rop.count(result.onlyA)} only in A`, result.onlyB && `${rop.count(result.onlyB)} only in B`, result.repeated && `${rop.counted(result.repeated, "handoff")} of a record that was there before (the first one counts)`, result.unnamed && `${rop.counted(result.unnamed, "handoff")} without a record ID`, counts.undecided && `${rop.count(counts.undecided)} with another verdict than PASS and FAIL in one of them`].filter(Boolean);
    const same = sets.a === sets.b && JSON.stringify(side(params, "a")) === JSON.stringify(side(params, "b"));
    return html`<div class="sides"><${Side} name="a" rows=${rows.a} set=${sets.a} params=${params} count=${a.indexes.length} /><${Side} name="b" rows=${rows.b} set=${sets.b} params=${params} count=${b.indexes.length} /></div>
      ${same && html`<p class="nothing">A and B are the same handoffs. Choose another set or filter for one of them. Two files are compared with <code>rop-otel replay before.jsonl after.jsonl --html page.html</code>.</p>`}
      ${result.pairs.length === 0 ? html`<p class="nothing">No record is in both: handoffs are paired by their record ID.</p>` : html`
      <${rop.Section} id="fates" title=${`${rop.counted(result.pairs.length, "record")} in both`} note=${rest.length ? `Left out: ${rest.join("; ")}.` : "Paired by record ID."}><${Matrix} counts=${counts} params=${params} /></${rop.Section}>
      <${rop.Section} id="stages" title="Stage by stage" note="Whether the stage's list holds the selected object, in A and in B."><${Stages} stages=${result.stages} params=${params} /></${rop.Section}>
      <${rop.Section} id="records" title="Records" note=${`${rop.counted(pairs.length, "record")}${params.fate ? `: ${rop.FATE_WORDS[params.fate] || params.fate}` : ", those that were kept left out"}${params.stage ? `, at ${rop.stageWords(params.stage)}` : ""}.`}>
        ${(params.fate || params.stage) && html`<p><a class="plain" href=${rop.link(["compare"], { ...params, fate: "", stage: "" })}>Show all that changed or were missed</a></p>`}
        <${Records} pairs=${pairs} params=${params} sets=${sets} /></${rop.Section}>`}`;
  }

  rop.Compare = ({ address }) => {
    const { params } = address;
    const sets = { a: sideSet(params, "a"), b: sideSet(params, "b") };
    const rows = rop.useFetched(async () => ({ a: await rop.feed.rows(sets.a), b: await rop.feed.rows(sets.b) }), sets);
    return html`<main id="main"><div class="title"><${rop.Heading}>Compare</${rop.Heading}><p class="note">The same records, before and after a change.</p></div>
      ${rows && rows.a ? html`<${Compared} params=${params} rows=${rows} sets=${sets} />` : html`<${rop.Waiting} value=${rows} />`}</main>`;
  };
})((window.rop = window.rop || {}));
