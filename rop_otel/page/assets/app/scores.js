// Scores by stage: a number and a bar for each, so that a fall is seen before it is read.
"use strict";
(function (rop) {
  const { html } = rop;
  const MEASURES = ["recall@5", "rr", "ndcg@10"];
  const MORE = ["recall@1", "recall@3", "recall@10", "ndcg@5", "precision@5"];
  const TARGETS = ["selected", "judged"];

  function Cell({ value, kind }) {
    if (value === undefined || value === null) return html`<td class="number faint">–</td>`;
    return html`<td class="number score">${rop.score(value)}<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="all" width="100" height="4" /><rect class=${kind} width=${100 * Math.min(1, value)} height="4" /></svg></td>`;
  }

  rop.Scores = ({ scores }) => {
    const [all, showAll] = rop.useState(false);
    const { some, more } = rop.useMost(scores, 50, "stage");
    if (!scores.length) return html`<p class="note">Nothing was scored.</p>`;
    const measures = all ? [...MEASURES, ...MORE] : MEASURES;
    const first = (index) => (index === 0 ? "first" : "");
    return html`<${rop.Scroll} label="Scores by stage"><table class="scores">
      <thead>
        <tr class="groups"><th></th><th></th>${TARGETS.map((target) => html`<th colspan=${measures.length} scope="colgroup">${target}</th>`)}</tr>
        <tr><th scope="col">stage</th><th scope="col" class="number">IDs</th>
          ${TARGETS.map(() => measures.map((measure, index) => html`<th scope="col" class=${`number ${first(index)}`}>${measure}</th>`))}</tr>
      </thead>
      <tbody>${some.map((row) => html`<tr>
        <th scope="row">${rop.visible(rop.stageWords(rop.placeOf(row)), 60)}</th><td class="number">${row.returned === null || row.returned === undefined ? "–" : row.returned.toFixed(1)}</td>
        ${TARGETS.map((target) => measures.map((measure) => html`<${Cell} value=${(row[target] || {})[measure]} kind=${target} />`))}
      </tr>`)}</tbody>
    </table></${rop.Scroll}>${more}
    <button type="button" class="plain" aria-pressed=${all} onClick=${() => showAll(!all)}>${all ? "Show three measures" : "Show every measure"}</button>`;
  };
})((window.rop = window.rop || {}));
