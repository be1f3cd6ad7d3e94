// The facts of the rank chart as tables: the way of a document below its columns, and every document's ranks.
"use strict";
(function (rop) {
  const { html, useState, Id } = rop;
  const MOST = 6, ROWS = 200;

  const factsOf = (cell, scope) => [
    cell.score === null || cell.score === undefined ? "" : rop.short(cell.score), cell.scope && cell.scope !== scope ? rop.visible(cell.scope, 16) : "",
    cell.tokens === null || cell.tokens === undefined ? "" : `${cell.tokens} tok`,
  ].filter(Boolean);

  function Cells({ cells, columns, loss, scope }) {
    return cells.map((cell, index) => html`<td class=${loss && loss.place === columns[index].key ? "loss" : ""}>
      ${cell.rank ? html`<b>${rop.count(cell.rank)}</b>` : cell.end ? html`<span class=${`end ${rop.isLoss(cell.end) ? "bad-text" : "faint"}`}>${rop.isLoss(cell.end) ? "✕ " : ""}${rop.ENDINGS[cell.end]}</span>` : html`<span class="faint">·</span>`}
      ${cell.rank ? factsOf(cell, scope).map((fact) => html`<small>${fact}</small>`) : ""}
    </td>`);
  }

  // Below the chart, column under column: the selected and judged documents, and the one under the pointer.
  rop.Trail = ({ ways, columns, current, left, width, loss, detail }) => {
    const pinned = ways.filter((way) => way.kind !== "other").sort((one, other) => (one.kind < other.kind ? 1 : -1)).slice(0, MOST);
    const rows = current && !pinned.includes(current) ? [...pinned, current] : pinned;
    const absent = (detail.selected_ids || []).length ? [] : (detail.selected || []).filter(Boolean).slice(0, MOST);
    return html`<table class="trail" width=${left + width * columns.length}>
      <caption class="unseen">Rank and score of the selected and judged documents in each list</caption>
      <colgroup><col width=${left} />${columns.map(() => html`<col width=${width} />`)}</colgroup>
      <thead class="unseen"><tr><th>document</th>${columns.map((column) => html`<th scope="col">${rop.visible(column.name || column.title, 60)}</th>`)}</tr></thead>
      ${rows.map((way) => html`<tbody key=${way.id} class=${`${way.kind} ${current === way ? "on" : ""}`}>
        <tr><th scope="rowgroup" colspan=${columns.length + 1}><span><${Id} of=${way.id} />${way.kind === "other" ? "" : html` <span class=${`mark ${way.kind}`}>${way.kind}</span>`}</span></th></tr>
        <tr><td></td><${Cells} cells=${rop.trailOf(way, columns)} columns=${columns} loss=${loss} scope=${detail.scope} /></tr>
      </tbody>`)}
      ${absent.map((id) => html`<tbody class="selected"><tr><th colspan=${columns.length + 1}><${Id} of=${id} /> <span class="mark selected">selected</span> is in no list.</th></tr></tbody>`)}
      ${current ? "" : html`<tbody class="hint"><tr><th colspan=${columns.length + 1}>Point at a line, or use the arrow keys, to follow another document.</th></tr></tbody>`}
    </table>`;
  };

  // Every document in every list. It is made when it is asked for.
  rop.RankTable = ({ detail }) => {
    const [open, put] = useState(false);
    const [most, more] = useState(ROWS);
    const columns = open ? rop.columnsOf(detail) : [];
    const { drawn } = open ? rop.drawnOf(detail, columns, true) : { drawn: [] };
    const best = (way) => Math.min(...way.points.map((point) => point.rank));
    const order = { selected: 0, judged: 1, other: 2 };
    const rows = [...drawn].sort((one, other) => order[one.kind] - order[other.kind] || best(one) - best(other));
    return html`<details class="ranktable" onToggle=${(event) => put(event.target.open)}>
      <summary>The same as a table: every document's rank in every list</summary>
      ${open && html`<${rop.Scroll} label="Ranks of every document" class="tall"><table class="grid">
        <thead><tr><th scope="col">document</th>${columns.map((column) => html`<th scope="col" class="number">${rop.visible(rop.place(column.name || column.title, column.round, null), 40)}</th>`)}</tr></thead>
        <tbody>${rows.slice(0, most).map((way) => html`<tr key=${way.id} class=${way.kind}>
          <th scope="row"><${Id} of=${way.id} />${way.kind === "other" ? "" : html` <span class=${`mark ${way.kind}`}>${way.kind}</span>`}</th>
          ${rop.trailOf(way, columns).map((cell) => html`<td class="number">${cell.rank ?? (cell.end ? html`<span class="faint" title=${rop.ENDINGS[cell.end]}>${rop.isLoss(cell.end) ? "✕" : "?"}<span class="unseen"> ${rop.ENDINGS[cell.end]}</span></span>` : "")}${cell.hollow ? html`<span title="shown without text, or in part"> ○</span>` : ""}</td>`)}
        </tr>`)}</tbody>
      </table></${rop.Scroll}>
      ${rows.length > most && html`<button type="button" onClick=${() => more(most + 1000)}>Show ${rop.count(Math.min(1000, rows.length - most))} more of ${rop.count(rows.length)}</button>`}`}
    </details>`;
  };
})((window.rop = window.rop || {}));
