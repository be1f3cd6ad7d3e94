// Before and after: two files, or two filters of one.
"use strict";
(function (rop) {
  const { html, Id } = rop;
  const MOST = 200;
  const side = (params, name) => Object.fromEntries(Object.entries(params).filter(([key]) => key.startsWith(`${name}.`)).map(([key, value]) => [key.slice(2), value]));
  const sideSet = (params, name) => rop.setOf(params[name] ?? (name === "a" ? 0 : 1));
  const question = (params, name) => ({ set: sideSet(params, name), filter: rop.filterOf(side(params, name)) });

  function Side({ name, params, count }) {
    const { set, filter } = question(params, name);
    const { value: choices } = rop.useAnswer(() => rop.feed.choices({ set, filter }), [set, filter]);
    const change = (key, value) => rop.replace(["compare"], { ...params, [`${name}.${key}`]: value });
    const choose = (chosen) => rop.replace(["compare"], { ...params, [name]: chosen });
    const link = (others) => {
      const rest = Object.fromEntries(Object.entries(params).filter(([key]) => !key.startsWith(`${name}.`)));
      return rop.link(["compare"], { ...rest, ...Object.fromEntries(Object.entries(others).map(([key, value]) => [`${name}.${key}`, value])) });
    };
    const what = [rop.feed.live ? "" : rop.visible(rop.feed.head().sets[set].name, 60), count === undefined ? "" : rop.counted(count, "handoff")].filter(Boolean).join(", ");
    return html`<div class="side"><h2>${name === "a" ? "A, before" : "B, after"} <span class="note">${what}</span></h2>
      <${rop.SetChoice} set=${set} change=${choose} label=${`Set of ${name.toUpperCase()}`} />
      <details open=${rop.feed.live || Object.keys(filter).length > 0}><summary>Filters of ${name.toUpperCase()}</summary><${rop.FilterBar} choices=${choices && !rop.failed(choices) ? choices : {}} filter=${filter} change=${change} label=${`Filters of ${name.toUpperCase()}`} moments /></details>
      <${rop.FilterChips} filter=${filter} link=${link} /></div>`;
  }

  function Matrix({ counts, params }) {
    const listed = (fate) => !rop.feed.live || fate === "lost" || fate === "recovered";
    const cell = (fate) => {
      const words = html`<b>${rop.count(counts[fate])}</b> <span>${{ kept: "kept", lost: "lost", recovered: "recovered", missed: "missed by both" }[fate]}</span>`;
      return html`<td class=${`fate ${fate}`}>${listed(fate) ? html`<a href=${rop.link(["compare"], { ...params, fate, stage: "" })}>${words}</a>` : words}</td>`;
    };
    return html`<table class="matrix"><caption class="unseen">Records by their verdict in A and in B</caption>
      <thead><tr><td></td><th scope="col">B: shown</th><th scope="col">B: not shown</th></tr></thead>
      <tbody><tr><th scope="row">A: shown</th>${cell("kept")}${cell("lost")}</tr><tr><th scope="row">A: not shown</th>${cell("recovered")}${cell("missed")}</tr></tbody></table>`;
  }

  // Lost to the left, recovered to the right of one line, so that a stage that changed is seen.
  function Stages({ stages, params }) {
    const most = Math.max(1, ...stages.map(({ counts }) => Math.max(counts.lost, counts.recovered)));
    const known = stages.some(({ counts }) => counts.undecided !== undefined);
    const link = (place, fate, count) => (!known ? html`<b>${rop.count(count)}</b>` : count ? html`<a href=${rop.link(["compare"], { ...params, stage: place, fate })}><b>${rop.count(count)}</b></a>` : html`<span class="faint">0</span>`);
    return html`<${rop.Scroll} label="Stage by stage"><table class="stages-compared">
      <thead><tr><th scope="col">stage</th><th scope="col" class="number">lost</th><th scope="col"><span class="unseen">lost to the left, recovered to the right</span></th><th scope="col">recovered</th><th scope="col" class="number">kept</th><th scope="col" class="number">missed by both</th>${known && html`<th scope="col" class="number">not known</th>`}</tr></thead>
      <tbody>${stages.map(({ place, counts }) => html`<tr key=${place} class=${place === "shown" ? "total" : ""}><th scope="row">${rop.visible(rop.stageWords(place), 60)}</th>
        <td class="number">${link(place, "lost", counts.lost)}</td>
        <td class="both-ways"><svg viewBox="-100 0 200 10" preserveAspectRatio="none" aria-hidden="true"><rect class="lost" x=${(-100 * counts.lost) / most} width=${(100 * counts.lost) / most} height="10" /><rect class="recovered" x="0" width=${(100 * counts.recovered) / most} height="10" /><line x1="0" x2="0" y1="0" y2="10" /></svg></td>
        <td>${link(place, "recovered", counts.recovered)}</td><td class="number">${link(place, "kept", counts.kept)}</td><td class="number">${link(place, "missed", counts.missed)}</td>${known && html`<td class="number">${link(place, "undecided", counts.undecided)}</td>`}</tr>`)}</tbody>
    </table></${rop.Scroll}>`;
  }

  // A handoff by its verdict; of a server's pairs only the IDs are known.
  const How = ({ row, set }) => html`<a href=${rop.handoffLink(row, { set: set || "" })}>${row.verdict === undefined ? html`<${Id} of=${row.handoff_id} />` : html`<${rop.Verdict} of=${row.verdict} />`}</a>${row.drop_cause ? html` <span class="cause">${row.dropped_at ? rop.visible(rop.droppedAt(row), 40) : "no stage"}, ${rop.visible(row.drop_cause)}</span>` : row.selected_rank ? html` <span class="faint">rank ${row.selected_rank}</span>` : ""}`;

  function Records({ pairs, sets }) {
    const objects = pairs.some((pair) => pair.after.selected);
    return html`<${rop.Scroll} label="Records" class="flat"><table class="handoffs">
      <thead><tr><th scope="col">Record</th><th scope="col">Fate</th><th scope="col">A, before</th><th scope="col">B, after</th>${objects && html`<th scope="col">Selected object</th>`}</tr></thead>
      <tbody>${pairs.slice(0, MOST).map((pair) => html`<tr key=${pair.record}><th scope="row"><bdi>${rop.visible(pair.record, 60)}</bdi></th>
        <td><span class=${`fate-word ${pair.shownFate}`}>${pair.shownFate === "missed" ? "missed by both" : pair.shownFate === "undecided" ? "not known" : pair.shownFate}</span></td>
        <td><${How} row=${pair.before} set=${sets.a} /></td><td><${How} row=${pair.after} set=${sets.b} /></td>
        ${objects && html`<td class="ids">${(pair.after.selected || []).slice(0, 2).map((id) => html`<${Id} of=${id} /> `)}</td>`}</tr>`)}</tbody>
    </table></${rop.Scroll}>${pairs.length > MOST ? html`<p class="note">The first ${MOST} of ${rop.count(pairs.length)}. Filters on A and B show fewer.</p>` : ""}`;
  }

  function leftOut({ onlyA, onlyB, repeated, unnamed, counts, more }) {
    const rest = [
      onlyA && `${rop.count(onlyA)} only in A`, onlyB && `${rop.count(onlyB)} only in B`, repeated && `${rop.counted(repeated, "handoff")} of a record that was there before (the first one counts)`,
      unnamed && `${rop.counted(unnamed, "handoff")} without a record ID`, counts.undecided && `${rop.count(counts.undecided)} with another verdict than PASS and FAIL in one of them`,
      more && "handoffs of a side beyond its newest 2,000",
    ].filter(Boolean);
    return rest.length ? `Left out: ${rest.join("; ")}.` : "Paired by record ID.";
  }

  function Result({ result, params, sets }) {
    const fateOf = (pair) => (params.stage && !rop.feed.live ? rop.stageFate(pair, params.stage) : pair.fate);
    const order = (pair) => rop.FATES.indexOf(pair.shownFate);
    const pairs = result.pairs.map((pair) => ({ ...pair, shownFate: fateOf(pair) }))
      .filter((pair) => (params.fate ? pair.shownFate === params.fate : pair.shownFate !== "kept")).sort((one, other) => order(one) - order(other));
    const listed = rop.feed.live ? `${rop.counted(pairs.length, "record")} that were lost or recovered, at most 200 of each.` : `${rop.counted(pairs.length, "record")}${params.fate ? `: ${rop.FATE_WORDS[params.fate] || params.fate}` : ", those that were kept left out"}${params.stage ? `, at ${rop.stageWords(params.stage)}` : ""}.`;
    return html`<${rop.Section} id="fates" title=${`${rop.counted(result.size, "record")} in both`} note=${leftOut(result)}><${Matrix} counts=${result.counts} params=${params} /></${rop.Section}>
      <${rop.Section} id="stages" title="Stage by stage" note="Whether the stage's list holds the selected object, in A and in B."><${Stages} stages=${result.stages} params=${params} /></${rop.Section}>
      <${rop.Section} id="records" title="Records" note=${listed}>
        ${(params.fate || params.stage) && html`<p><a class="plain" href=${rop.link(["compare"], { ...params, fate: "", stage: "" })}>Show all that changed or were missed</a></p>`}
        <${Records} pairs=${pairs} sets=${sets} /></${rop.Section}>`;
  }

  rop.Compare = ({ address }) => {
    const { params } = address;
    const a = question(params, "a"), b = question(params, "b");
    const same = JSON.stringify(a) === JSON.stringify(b);
    const { value: result, fresh } = rop.useAnswer(() => rop.feed.compare({ a, b }), [a, b]);
    const there = result && !rop.failed(result);
    return html`<main id="main" aria-busy=${!fresh}><div class="title"><${rop.Heading}>Compare</${rop.Heading}><p class="note">The same records, before and after a change.</p></div>
      <div class="sides">${["a", "b"].map((name) => html`<${Side} key=${name} name=${name} params=${params} count=${there ? result[name === "a" ? "sizeA" : "sizeB"] : undefined} />`)}</div>
      ${same && html`<p class="nothing">A and B are the same handoffs. ${rop.feed.live ? "Choose the times before and after the change, or another run, service or verdict for one of them." : html`Choose another set or filter for one of them. Two files are compared with <code>rop-otel replay before.jsonl --compare after.jsonl --html page.html</code>.`}</p>`}
      ${!there ? html`<${rop.Waiting} value=${result} />` : result.size === 0 ? html`<p class="nothing">No record is in both. Handoffs are paired by their record ID: give each one with <code>record_id=</code>.</p>` : html`<${Result} result=${result} params=${params} sets=${{ a: a.set, b: b.set }} />`}
    </main>`;
  };
})((window.rop = window.rop || {}));
