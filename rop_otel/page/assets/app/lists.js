// The lists of the stages side by side: what each returned, what came, what left, what was cut on the way.
"use strict";
(function (rop) {
  const { html, useState, Id } = rop;
  const MOST = 30;

  // One document of a list. Its facts stand to the right: score, tokens, share of its text, a scope that is not the handoff's.
  function Entry({ id, rank, sign, words, of, detail, note, index }) {
    const kind = detail.selectedIds.has(id) ? "selected" : detail.judgedIds.has(id) ? "judged" : "";
    const value = (list) => (of && list && index !== undefined ? (list[index] ?? null) : null);
    const score = value(of?.scores), tokens = value(of?.tokens), share = value(of?.shares), scope = value(of?.scopes), label = value(of?.labels);
    const elsewhere = scope && scope !== detail.scope;
    const facts = [
      tokens === null ? null : `${tokens} tokens`, share === null || share >= 1 ? null : `${Math.round(100 * share)} % of its text`,
      elsewhere ? html`<span class=${detail.scope ? "bad-text" : ""}>${detail.scope ? "✕ of " : ""}${rop.visible(scope, 30)}</span>` : null, note ?? null,
    ].filter((fact) => fact !== null);
    return html`<li class=${`${kind} ${sign || ""}`}>
      <span class="rank">${rank ?? ""}</span><span class="sign" title=${words}>${{ came: "+", left: "✕", cut: "✕" }[sign] || ""}<span class="unseen">${words || ""}</span></span>
      <span class="what">${label ? html`<span class="label">${rop.visible(label, 12)}</span> ` : ""}<${Id} of=${id} />${kind ? html` <span class=${`mark ${kind}`}>${kind}</span>` : ""}
        ${facts.length ? html`<small>${facts.map((fact, place) => html`${place ? " · " : ""}${fact}`)}</small>` : ""}</span>
      <span class="value">${score === null ? "" : rop.short(score)}</span>
    </li>`;
  }

  function Some({ entries, label }) {
    const [all, showAll] = useState(false);
    const rest = entries.length - MOST;
    return html`<ol aria-label=${label}>${all || rest <= 3 ? entries : entries.slice(0, MOST)}
      ${rest > 3 ? html`<li class="rest"><button type="button" class="plain" onClick=${() => showAll(!all)}>${all ? "Show fewer" : `Show ${rop.count(rest)} more`}</button></li>` : ""}</ol>`;
  }

  const Group = ({ title, entries, from, open, class: name }) => entries.length > 0 && html`<details class=${`group ${name}`} open=${open}>
    <summary><h4>${title} <b>${rop.count(entries.length)}</b>${from ? html` <small>places and scores of ${from}</small>` : ""}</h4></summary><${Some} entries=${entries} label=${title} /></details>`;

  // What feeding lists hold, each document once with the list and the place where it stood.
  rop.fedTo = (stage, stages) => {
    const fed = new Map();
    for (const feed of stage.feeds || [])
      ((stages[feed] || {}).ids || []).forEach((id, index) => { if (id !== "" && !fed.has(id)) fed.set(id, { of: stages[feed], index }); });
    return fed;
  };
  // What feeding lists hold and the stage was not handed: it left between them.
  rop.cutOnTheWay = (stage, stages) => {
    if (!stage.input) return [];
    const handed = new Set(stage.input);
    return [...rop.fedTo(stage, stages).keys()].filter((id) => !handed.has(id));
  };

  function Stage({ stage, detail, lost, all }) {
    const { stages } = detail;
    const cut = rop.cutOnTheWay(stage, stages);
    const fed = rop.fedTo(stage, stages);
    const several = (stage.feeds || []).length > 1;
    const from = several || !stage.feeds.length ? "" : rop.visible(rop.placeOf(stages[stage.feeds[0]]), 40);
    const gone = (id, sign, words) => {
      const was = fed.get(id);
      return html`<${Entry} key=${id} id=${id} sign=${sign} words=${words} detail=${detail} ...${was ? { of: { scores: was.of.scores, scopes: was.of.scopes }, index: was.index, rank: was.index + 1, note: several ? `of ${rop.visible(rop.placeOf(was.of), 40)}` : undefined } : {}} />`;
    };
    const added = new Set(stage.added || []);
    const facts = [
      stage.service && stage.service !== detail.service && html`<span title="service">in ${rop.visible(stage.service, 60)}</span>`,
      stage.implementation && html`<span title="implementation">${rop.visible(stage.implementation, 90)}</span>`,
      stage.fallback && html`<span class="warn-text">ran its fallback</span>`, stage.query_form && `query: ${rop.visible(stage.query_form, 40)}`,
      stage.top_k && `asked for ${stage.top_k}`, stage.duration !== null && stage.duration !== undefined && (stage.duration < 0 ? "ends before it starts" : rop.seconds(stage.duration)),
      stage.token_budget && `${rop.count(stage.context_tokens || 0)} of ${rop.count(stage.token_budget)} tokens`,
    ].filter(Boolean);
    const size = stage.ids === null ? null : stage.returned > stage.ids.length ? `recorded to ${rop.count(stage.ids.length)} of ${rop.count(stage.returned)}` : rop.counted(stage.returned, "document");
    return html`<article class=${`list ${lost ? "lost" : ""}`} aria-label=${`Stage ${rop.visible(rop.placeOf(stage), 60)}`}>
      <h3>${rop.visible(rop.placeOf(stage), 60)} ${lost && html`<span class="flag">lost here</span>`}</h3>
      <p class="facts">${[size, ...facts].filter(Boolean).map((fact, place) => html`${place ? " · " : ""}${fact}`)}</p>
      ${stage.query ? html`<p class="query"><bdi>${rop.visible(stage.query)}</bdi></p>` : ""}
      ${stage.status !== "ok" && html`<p class="status warn-text">${stage.status}${stage.reason ? `: ${rop.visible(stage.reason)}` : ""}</p>`}
      <${Group} class="cut" open title="Cut on the way here; no stage shows by what" from=${from} entries=${cut.map((id) => gone(id, "cut", "cut on the way"))} />
      ${stage.ids === null ? html`<p class="note">No ID can be read in what it returned.</p>` : stage.ids.length === 0 ? html`<p class="note">It returned nothing.</p>` : html`<${Some} label="Returned" entries=${stage.ids.map((id, index) => html`<${Entry} key=${index} id=${id} rank=${index + 1} index=${index} of=${stage} sign=${added.has(id) && stage.feeds.length ? "came" : ""} words=${added.has(id) && stage.feeds.length ? "came here" : ""} detail=${detail} />`)} />`}
      <${Group} class="left" open=${lost || all} title="Dropped here" from=${from} entries=${(stage.dropped || []).map((id) => gone(id, "left", "dropped here"))} />
    </article>`;
  }

  function Shown({ detail, lost }) {
    const { shown } = detail;
    const basis = { recorded: "as the application recorded it", prompt: "seen in the prompt", assumed: "as the application says, in another form", last_list: "the last list; no packing is recorded" };
    return html`<article class=${`list shown ${lost ? "lost" : ""}`} aria-label="What the reader is shown">
      <h3>reader is shown ${lost && html`<span class="flag">lost here</span>`}</h3>
      <p class="facts">${shown.basis ? `${rop.counted(shown.ids.length, "document")}, ${basis[shown.basis] || shown.basis}` : "Nobody knows what the reader was shown."}</p>
      <${Some} label="Shown" entries=${shown.ids.map((id, index) => html`<${Entry} key=${index} id=${id} rank=${index + 1} note=${shown.hollow && shown.hollow[index] ? "without text, or in part" : detail.cutoff === index + 1 ? "the cutoff is here" : undefined} detail=${detail} />`)} />
    </article>`;
  }

  rop.Lists = ({ detail: given }) => {
    const { loss, stages } = given;
    const around = loss && typeof loss.place === "number" ? new Set([...(stages[loss.place].feeds || []), loss.place]) : null;
    const flagged = around || new Set(given.findings.filter((finding) => typeof finding.place === "number" && finding.ids.length).flatMap((finding) => [...(stages[finding.place].feeds || []), finding.place]));
    const [all, showAll] = useState(flagged.size === 0);
    const detail = { ...given, selectedIds: new Set(given.selected_ids || []), judgedIds: new Set(given.judged_ids || []) };
    const chosen = all ? stages : stages.filter((stage) => flagged.has(stage.place));
    return html`<div class="lists-frame">
      ${flagged.size > 0 && html`<p class="choice"><button type="button" aria-pressed=${!all} onClick=${() => showAll(false)}>Around ${loss ? "the loss" : "the findings"}</button><button type="button" aria-pressed=${all} onClick=${() => showAll(true)}>All ${rop.counted(stages.length, "stage")}</button></p>`}
      <${rop.Scroll} label="Lists side by side" class="lists">
        ${chosen.map((stage) => html`<${Stage} key=${stage.place} stage=${stage} detail=${detail} all=${all} lost=${loss && loss.place === stage.place} />`)}
        <${Shown} detail=${detail} lost=${loss && loss.place === "shown"} />
      </${rop.Scroll}>
    </div>`;
  };

  // Label in the prompt, the passage shown under it, the source that the response attaches, and whether it is cited.
  rop.LabelMap = ({ labels }) => {
    const wrong = (each) => each.outcome && each.outcome !== "resolved";
    const differs = (each) => each.shown !== null && each.attached !== null && each.shown !== each.attached;
    const link = html`<td class="arrow" aria-hidden="true">→</td>`;
    const none = (words) => html`<i class="faint">${words}</i>`;
    return html`<${rop.Scroll} label="Label map"><table class="labels">
      <thead><tr><th scope="col">label</th><td></td><th scope="col">passage shown under it</th><td></td><th scope="col">source in the response</th><td></td><th scope="col">in the answer</th></tr></thead>
      <tbody>${labels.map((each, index) => html`<tr key=${index} class=${wrong(each) ? "wrong" : ""}>
        <th scope="row"><span class="label">${rop.visible(each.label, 30)}</span></th>${link}
        <td>${each.shown === null ? none("nobody showed it") : html`<${Id} of=${each.shown} />`}</td>${link}
        <td class=${differs(each) ? "differs" : ""}>${each.attached === null ? none(each.reader === null || each.reader === undefined ? "not recorded" : "none") : html`<${Id} of=${each.attached} />`}</td>${link}
        <td>${each.cited ? html`cited${each.outcome ? html`, <b class=${wrong(each) ? "bad-text" : ""}>${wrong(each) ? "✕ " : ""}${each.outcome}</b>${wrong(each) ? html`<small>${rop.OUTCOME_WORDS[each.outcome]}</small>` : ""}` : ""}` : html`<span class="faint">not cited</span>${each.outcome && wrong(each) ? html`, <b class="bad-text">✕ ${each.outcome}</b>` : ""}`}</td>
      </tr>`)}</tbody>
    </table></${rop.Scroll}>`;
  };
})((window.rop = window.rop || {}));
