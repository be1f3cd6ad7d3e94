// The table of handoffs, page by page, with its filters in the address.
"use strict";
(function (rop) {
  const { html, useMemo, Id } = rop;
  const PAGE = 100;
  const SORTS = {
    order: null,
    record: (row) => row.record_id ?? row.handoff_id,
    verdict: (row) => row.verdict ?? "",
    lost: (row) => (row.drop_cause ? `${rop.droppedAt(row)} ${row.drop_cause}` : "\uffff"),
    rank: (row) => row.selected_rank ?? Infinity,
    duration: (row) => -(row.duration ?? -1),
    start: (row) => row.start ?? Infinity,
  };

  rop.sorted = (indexes, rows, sort) => {
    const key = Object.hasOwn(SORTS, sort) ? SORTS[sort] : null;
    if (!key) return indexes;
    const keys = new Map(indexes.map((index) => [index, key(rows[index])]));
    return [...indexes].sort((one, other) => (keys.get(one) < keys.get(other) ? -1 : keys.get(one) > keys.get(other) ? 1 : one - other));
  };
  rop.handoffLink = (row, index, params) => rop.link(["handoff", row.handoff_id], { ...params, n: index });

  function Row({ row, index, params }) {
    const found = row.findings.slice(0, 3);
    return html`<tr>
      <th scope="row"><a class="row-link" href=${rop.handoffLink(row, index, params)}>${rop.visible(row.record_id ?? row.handoff_id, 60)}</a></th>
      <td><${rop.Verdict} of=${row.verdict} /></td>
      <td>${row.drop_cause ? html`<b>${row.dropped_at ? rop.visible(rop.droppedAt(row), 50) : "no stage"}</b> <span class="cause">${rop.visible(row.drop_cause)}</span>` : html`<span class="faint">–</span>`}</td>
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

  function Pages({ page, pages, link }) {
    if (pages < 2) return null;
    return html`<nav class="pages" aria-label="Pages">
      ${page > 1 ? html`<a rel="prev" href=${link(page - 1)}>← Previous</a>` : html`<span class="faint">← Previous</span>`}
      <span>Page ${rop.count(page)} of ${rop.count(pages)}</span>
      ${page < pages ? html`<a rel="next" href=${link(page + 1)}>Next →</a>` : html`<span class="faint">Next →</span>`}
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

  rop.Handoffs = ({ address }) => {
    const head = rop.feed.head();
    const { params } = address;
    const set = Math.min(Number(params.set) || 0, head.sets.length - 1);
    const rows = rop.useFetched(() => rop.feed.rows(set), set);
    const filter = rop.filterOf(params);
    const kept = useMemo(
      () => (Array.isArray(rows) ? rop.sorted(rop.filtered(rows, filter, set), rows, params.sort) : []),
      [rows, JSON.stringify(filter), params.sort],
    );
    if (!Array.isArray(rows)) return html`<main id="main"><${rop.Heading}>Handoffs</${rop.Heading}><${rop.Waiting} value=${rows} /></main>`;
    const steady = { set: set || "", sort: params.sort || "" };
    const pages = Math.max(1, Math.ceil(kept.length / PAGE));
    const page = Math.min(Math.max(1, Number(params.page) || 1), pages);
    const change = (name, value) => rop.replace(["handoffs"], { ...steady, ...filter, [name]: value });
    const here = { ...steady, ...filter };
    const link = (number) => rop.link(["handoffs"], { ...here, page: number > 1 ? number : "" });
    const columns = [["record", "Record"], ["verdict", "Verdict"], ["lost", "Lost at, cause"], [null, "Selected object"], ["rank", "Rank", 1], [null, "Findings"], [null, "Handoff"], ["duration", "Duration", 1], ["start", "Start (UTC)", 1]];
    return html`<main id="main">
      <div class="title"><${rop.Heading}>Handoffs</${rop.Heading}>
        <p class="note" role="status">${kept.length === rows.length ? rop.counted(rows.length, "handoff") : `${rop.count(kept.length)} of ${rop.counted(rows.length, "handoff")}`}</p>
        <${rop.SetChoice} set=${set} change=${(chosen) => rop.go(["handoffs"], { set: chosen })} /></div>
      <${rop.FilterBar} rows=${rows} set=${set} filter=${filter} change=${change} />
      <${rop.FilterChips} filter=${filter} link=${(others) => rop.link(["handoffs"], { ...steady, ...others })} />
      ${kept.length === 0 ? html`<p class="nothing">No handoff is like that. Remove a filter.</p>` : html`
      <${rop.Scroll} label="Handoffs" class="flat"><table class="handoffs" onKeyDown=${onKey}>
        <thead><tr>${columns.map(([name, words, number]) => (name ? html`<${Heading} name=${name} sort=${params.sort} params=${here} number=${number}>${words}</${Heading}>` : html`<th scope="col">${words}</th>`))}</tr></thead>
        <tbody>${kept.slice((page - 1) * PAGE, page * PAGE).map((index) => html`<${Row} key=${index} row=${rows[index]} index=${index} params=${here} />`)}</tbody>
      </table></${rop.Scroll}>
      <${Pages} page=${page} pages=${pages} link=${link} />`}
    </main>`;
  };
})((window.rop = window.rop || {}));
