// The table of handoffs, page by page, with its filters in the address.
"use strict";
(function (rop) {
  const { html, Id } = rop;
  const PAGE = 100;
  rop.handoffLink = (row, params) => rop.link(["handoff", row.handoff_id], { ...params, n: row.index ?? "" });

  // What a handoff is called: its record, else its own ID.
  rop.Record = ({ of: row }) => html`<bdi title=${rop.visible(row.record_id ?? row.handoff_id)}>${row.record_id === null ? rop.middle(row.handoff_id, 20) : rop.middle(row.record_id, 60)}</bdi>`;

  function Row({ row, params }) {
    const found = row.findings.slice(0, 3);
    return html`<tr>
      <th scope="row"><a class="row-link" href=${rop.handoffLink(row, params)}><${rop.Record} of=${row} /></a></th>
      <td><${rop.Verdict} of=${row.verdict} /></td>
      <td class="lost">${row.drop_cause ? html`<b>${row.dropped_at ? rop.visible(rop.droppedAt(row), 50) : "no stage"}</b> <span class="cause">${rop.visible(row.drop_cause)}</span>` : html`<span class="faint">–</span>`}</td>
      <td class="ids">${(row.selected || []).slice(0, 2).map((id) => html`<${Id} of=${id} /> `)}${(row.selected || []).length > 2 ? `+${row.selected.length - 2}` : ""}${row.selected ? "" : html`<span class="faint">–</span>`}</td>
      <td class="number">${row.selected_rank ?? html`<span class="faint">–</span>`}</td>
      <td class="found">${found.map(([code, stage]) => html`<span class="chip">${rop.visible(code)} <small>${rop.visible(stage, 40)}</small></span>`)}${row.findings.length > 3 ? html`<span class="chip">+${row.findings.length - 3}</span>` : ""}</td>
      <td>${rop.visible(row.handoff_name, 40)}${row.service ? html` <small class="faint">${rop.visible(row.service, 40)}</small>` : ""}</td>
      <td class="number">${rop.seconds(row.duration)}</td>
      <td class="number when">${rop.moment(row.start)}</td>
    </tr>`;
  }

  function Heading({ name, sort, children, params, number }) {
    const on = sort === name;
    return html`<th scope="col" class=${number ? "number" : ""} aria-sort=${on ? (name === "duration" ? "descending" : "ascending") : "none"}>
      <a href=${rop.link(["handoffs"], { ...params, sort: on ? "" : name })}>${children}<span aria-hidden="true">${on ? (name === "duration" ? " ↓" : " ↑") : ""}</span></a></th>`;
  }

  function Pages({ page, pages, more, link }) {
    if (pages < 2 && !more) return null;
    const [before, after] = rop.feed.live ? ["← Newer", "Older →"] : ["← Previous", "Next →"];
    return html`<nav class="pages" aria-label="Pages">
      ${page > 1 ? html`<a rel="prev" href=${link(page - 1)}>${before}</a>` : html`<span class="faint">${before}</span>`}
      <span>Page ${rop.count(page)}${more ? "" : ` of ${rop.count(pages)}`}</span>
      ${page < pages || more ? html`<a rel="next" href=${link(page + 1)}>${after}</a>` : html`<span class="faint">${after}</span>`}
    </nav>`;
  }

  // Arrow keys go from one handoff to the next.
  function onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.classList.contains("row-link")) return;
    const links = [...event.currentTarget.querySelectorAll(".row-link")];
    const next = links[links.indexOf(event.target) + step];
    if (next) { event.preventDefault(); next.focus(); }
  }

  // How many there are: exactly, or as far as they were asked for.
  function size({ rows, total, scanned, more, tired }) {
    if (total !== undefined) return rows.length === total ? rop.counted(total, "handoff") : `${rop.count(rows.length)} of ${rop.counted(total, "handoff")}`;
    if (scanned !== null && more) return `${rop.counted(rows.length, "handoff")} among the newest ${rop.count(scanned)}`;
    if (tired) return `${rop.counted(rows.length, "handoff")} so far`;
    return more ? `the newest ${rop.counted(rows.length, "handoff")}` : rop.counted(rows.length, "handoff");
  }

  // The rows of a page; or what to do where there is none.
  function Listed({ found, here, page, depth, cleared }) {
    const { rows, more, scanned, tired } = found;
    const deeper = more && (scanned !== null || tired);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    const at = Math.min(page, pages);
    const link = (number) => rop.link(["handoffs"], { ...here, page: number > 1 ? number : "", depth: depth > 1 ? depth : "" });
    const columns = [["record", "Record"], ["verdict", "Verdict"], ["lost", "Lost at, cause"], [null, "Selected object"], ["rank", "Rank", 1], [null, "Findings"], [null, "Handoff"], ["duration", "Duration", 1], ["start", "Start (UTC)", 1]];
    return html`${rows.length === 0 ? html`<p class="nothing">${deeper ? `None of the handoffs that were looked through matches` : "No handoff matches"} these filters. <a href=${cleared}>Remove all filters</a></p>` : html`
      <${rop.Scroll} label="Handoffs" class="flat"><table class="handoffs" onKeyDown=${onKey}>
        <thead><tr>${columns.map(([name, words, number]) => (name ? html`<${Heading} name=${name} sort=${here.sort} params=${here} number=${number}>${words}</${Heading}>` : html`<th scope="col">${words}</th>`))}</tr></thead>
        <tbody>${rows.slice((at - 1) * PAGE, at * PAGE).map((row) => html`<${Row} key=${row.index ?? row.handoff_id} row=${row} params=${here} />`)}</tbody>
      </table></${rop.Scroll}>
      <${Pages} page=${at} pages=${pages} more=${more && !deeper} link=${link} />`}
      ${deeper && html`<p class="note">${tired ? "There are older handoffs, and few that match." : "This page alone knows this filter or order, so it looks through what it has loaded."} <a href=${rop.link(["handoffs"], { ...here, page: page > 1 ? page : "", depth: depth + 1 })}>Look through older handoffs, too</a></p>`}`;
  }

  rop.Handoffs = ({ address }) => {
    const { params } = address;
    const set = rop.setOf(params.set), filter = rop.filterOf(params), sort = rop.sortOf(params.sort);
    const page = Math.max(1, Math.trunc(Number(params.page)) || 1), depth = Math.max(1, Math.trunc(Number(params.depth)) || 1);
    const [turn, again] = rop.useState(0);
    const question = { set, filter, sort, page, depth };
    const { value: found, fresh } = rop.useAnswer(() => rop.feed.rows(question), [rop.feed.live ? question : { set, filter, sort }, turn]);
    const { value: choices } = rop.useAnswer(() => rop.feed.choices(question), [set, filter, turn]);
    const steady = { set: set || "", sort };
    const here = { ...steady, ...filter };
    const change = (name, value) => rop.replace(["handoffs"], { ...here, [name]: value });
    const refresh = () => { rop.feed.refresh(); again(turn + 1); };
    return html`<main id="main" aria-busy=${!fresh}>
      <div class="title"><${rop.Heading}>Handoffs</${rop.Heading}>
        <p class="note" role="status">${found && !rop.failed(found) ? size(found) : ""}</p>
        <${rop.SetChoice} set=${set} change=${(chosen) => rop.go(["handoffs"], { set: chosen })} />
        ${rop.feed.live && html`<button type="button" class="small" onClick=${refresh}>Refresh</button>`}</div>
      <${rop.FilterBar} choices=${choices && !rop.failed(choices) ? choices : {}} filter=${filter} change=${change} />
      ${rop.unknownIn(params).map((name) => html`<p class="warn-text">The address has ${rop.visible(name, 40)}, which is no filter; it changes nothing.</p>`)}
      <${rop.FilterChips} filter=${filter} link=${(others) => rop.link(["handoffs"], { ...steady, ...others })} />
      ${!found || rop.failed(found) ? html`<${rop.Waiting} value=${found} />` : html`<${Listed} found=${found} here=${here} page=${page} depth=${depth} cleared=${rop.link(["handoffs"], steady)} />`}
    </main>`;
  };
})((window.rop = window.rop || {}));
