// One handoff: what happened, where, why, what to change, how to keep it from coming back.
"use strict";
(function (rop) {
  const { html, Id } = rop;

  // The way to the handoffs beside this one, in the filter that it was opened from.
  function Steps({ detail, id, question, params }) {
    const { value: found } = rop.useAnswer(() => rop.feed.rows(question), question);
    if (!found || rop.failed(found)) return null;
    const { rows, total, more } = found;
    const at = rows.findIndex((row) => row.index === detail.index && rop.addressed(row.handoff_id) === id);
    if (at < 0) return null;
    const [before, after] = rop.feed.live ? ["← Newer", "Older →"] : ["← Previous", "Next →"];
    const step = (row, words, rel) => (row ? html`<a rel=${rel} href=${rop.handoffLink(row, params)}>${words}</a>` : html`<span class="faint">${words}</span>`);
    const filtered = rop.feed.live ? Object.keys(question.filter).length > 0 : rows.length < total;
    return html`<nav class="steps" aria-label="Handoffs of this filter">${step(rows[at - 1], before, "prev")}
      <a href=${rop.link(["handoffs"], params)}>${rop.count(at + 1)} of ${more ? "the newest " : ""}${rop.count(rows.length)}${filtered ? " in this filter" : ""}</a>
      ${step(rows[at + 1], after, "next")}</nav>`;
  }

  function Alike({ detail, set }) {
    const same = { at: rop.droppedAt(detail), cause: detail.drop_cause, name: detail.handoff_name };
    const { value: count } = rop.useAnswer(() => (detail.drop_cause ? rop.feed.count({ set, filter: same }) : 0), [set, detail.handoff_id]);
    const more = typeof count === "number" ? Math.max(0, count - 1) : undefined;
    return html`<${rop.Story} detail=${detail} more=${more} moreLink=${rop.link(["handoffs"], { set: set || "", ...same })} />`;
  }

  function Detail({ detail, id, set, params }) {
    const question = { set, filter: rop.filterOf(params), sort: rop.sortOf(params.sort), page: Math.trunc(Number(params.page)) || 1 };
    const steady = { set: set || "", sort: question.sort, ...question.filter };
    const key = `${detail.handoff_id} ${detail.index}`;
    return html`<main id="main" class="handoff" key=${key}>
      <div class="title"><${rop.Heading}><bdi>${rop.visible(detail.record_id ?? detail.handoff_id, 80)}</bdi></${rop.Heading}><${rop.Verdict} of=${detail.verdict} large />
        <${Steps} detail=${detail} id=${id} question=${question} params=${steady} /></div>
      <${Alike} detail=${detail} set=${set} />
      <${rop.Facts} detail=${detail} />
      <${rop.Section} id="ranks" title="The way through the stages" note="Stages from left to right, rank from top to bottom, a line for each document."><${rop.RankChart} detail=${detail} /><${rop.RankTable} detail=${detail} /></${rop.Section}>
      <${rop.Section} id="lists" title="The lists side by side"><${rop.Lists} detail=${detail} /></${rop.Section}>
      <${rop.Section} id="findings" title="Findings"><${rop.FoundHere} findings=${detail.findings} /></${rop.Section}>
      ${detail.labels.length > 0 && html`<${rop.Section} id="labels" title="Labels" note="Each label has to lead to the passage that was shown under it."><${rop.LabelMap} labels=${detail.labels} /></${rop.Section}>`}
      ${(detail.judged || []).length > 0 && html`<${rop.Section} id="judged" title="Judged objects that are missing"><${rop.JudgedLosses} losses=${detail.judged_losses} /></${rop.Section}>`}
      <${rop.Section} id="timing" title="Timing"><${rop.Waterfall} detail=${detail} /></${rop.Section}>
      <${rop.Section} id="keep" title="Keep it from coming back"><${rop.Keep} detail=${detail} /></${rop.Section}>
    </main>`;
  }

  rop.Handoff = ({ address }) => {
    const { params, path } = address;
    const set = rop.setOf(params.set);
    const asked = { set, id: path[1], index: params.n };
    const { value: detail, fresh } = rop.useAnswer(() => rop.feed.handoff(asked), asked);
    if (!fresh || rop.failed(detail)) return html`<main id="main"><${rop.Heading}>Handoff</${rop.Heading}><${rop.Waiting} value=${fresh ? detail : undefined} /></main>`;
    if (detail === null) {
      return html`<main id="main"><${rop.Heading}>Handoff</${rop.Heading}><p class="nothing">${rop.feed.live ? "This monitor keeps" : "This file has"} no handoff <${Id} of=${path[1] ?? ""} />${rop.feed.live ? ": it may not be assessed yet, or it was deleted since" : ""}. <a href=${rop.link(["handoffs"])}>See those it has.</a></p></main>`;
    }
    return html`<${Detail} detail=${detail} id=${path[1]} set=${set} params=${params} />`;
  };
})((window.rop = window.rop || {}));
