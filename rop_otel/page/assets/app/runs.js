// Runs: how far each one is, its verdicts, its report and the records that are missing.
"use strict";
(function (rop) {
  const { html, Id } = rop;
  const MOST = 1000;
  const handoffs = (run, filter = {}) => rop.link(["handoffs"], { run: run.run_id, ...filter });

  function Progress({ run }) {
    if (run.planned === null || run.planned === undefined) return html`${rop.counted(run.records, "record")}`;
    const seen = run.planned - (run.missing ?? 0);
    return html`<span class="progress"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="10" /><rect class="kept" width=${run.planned ? (100 * seen) / run.planned : 0} height="10" /></svg>
      ${rop.count(seen)} of ${rop.counted(run.planned, "planned record")}</span>`;
  }

  const Verdicts = ({ run }) => html`${Object.entries(run.verdicts).map(([verdict, count]) => html`<a class="verdict-link" key=${verdict} href=${handoffs(run, { verdict })}><b>${rop.count(count)}</b> <${rop.Verdict} of=${verdict} /></a> `)}`;

  function List({ runs }) {
    return html`<${rop.Scroll} label="Runs"><table class="handoffs">
      <thead><tr><th scope="col">Run</th><th scope="col">Progress</th><th scope="col">Verdicts</th><th scope="col" class="number">Handoffs</th><th scope="col" class="number">First (UTC)</th><th scope="col" class="number">Last (UTC)</th></tr></thead>
      <tbody>${runs.map((run) => html`<tr key=${run.run_id}><th scope="row"><a class="row-link" href=${rop.link(["run", run.run_id])}>${rop.visible(run.run_id, 60)}</a></th>
        <td><${Progress} run=${run} /></td><td><${Verdicts} run=${run} /></td><td class="number"><a href=${handoffs(run)}>${rop.count(run.handoffs)}</a></td>
        <td class="number when">${rop.moment(run.first)}</td><td class="number when">${rop.moment(run.last)}</td></tr>`)}</tbody></table></${rop.Scroll}>`;
  }

  rop.Runs = () => {
    const { value: found } = rop.useAnswer(rop.feed.runs, 0);
    return html`<main id="main"><div class="title"><${rop.Heading}>Runs</${rop.Heading}><p class="note">Handoffs that name a run with <code>rop.run.id</code>.</p></div>
      ${!found || rop.failed(found) ? html`<${rop.Waiting} value=${found} />`
        : found.runs.length ? html`<${List} runs=${found.runs} />`
        : html`<p class="nothing">No handoff names a run. <code>rop-otel declare</code> writes the declaration of one.</p>`}</main>`;
  };

  function Missing({ run }) {
    const ids = run.missing_ids || [];
    if (run.missing === null || run.missing === undefined) return html`<p class="note">What is planned is not known: this monitor has no declaration of the run. Start it with <code>--declaration</code>.</p>`;
    if (!ids.length) return html`<p class="note">No record is missing.</p>`;
    return html`<ul class="ids columns">${ids.slice(0, MOST).map((id) => html`<li key=${id}><${Id} of=${id} /></li>`)}</ul>
      ${run.missing > ids.length && html`<p class="note">The first ${rop.count(ids.length)} of ${rop.count(run.missing)}.</p>`}`;
  }

  // What stands at the top of the report, in its own words; all of it below.
  function Report({ report }) {
    if (!report) return html`<p class="note">There is none: this monitor has no declaration of the run. Start it with <code>--declaration</code>.</p>`;
    const plain = Object.entries(report).filter(([, value]) => value === null || typeof value !== "object");
    return html`<dl class="about">${plain.map(([name, value]) => html`<div key=${name}><dt>${rop.visible(name.replaceAll("_", " "), 60)}</dt><dd>${value === null ? html`<span class="faint">–</span>` : rop.visible(String(value), 200)}</dd></div>`)}</dl>
      <details><summary>The whole report</summary><pre tabindex="0">${JSON.stringify(report, null, 2)}</pre></details>`;
  }

  rop.Run = ({ address }) => {
    const id = address.path[1] || "";
    const { value: run, fresh } = rop.useAnswer(() => rop.feed.run(id), id);
    const there = fresh && run && !rop.failed(run);
    return html`<main id="main"><div class="title"><${rop.Heading}>Run <bdi>${rop.visible(id, 80)}</bdi></${rop.Heading}></div>
      ${!there ? (fresh && run === null ? html`<p class="nothing">No handoff names this run. <a href=${rop.link(["runs"])}>See all runs.</a></p>` : html`<${rop.Waiting} value=${fresh ? run : undefined} />`) : html`
      <p class="headline"><${Progress} run=${run} /></p>
      <p><${Verdicts} run=${run} /></p>
      <p class="more"><a href=${handoffs(run)}>Its ${rop.counted(run.handoffs, "handoff")}</a><a href=${rop.link(["overview"], { run: id })}>Its overview</a><span class="note">${rop.moment(run.first)} to ${rop.moment(run.last)} UTC</span></p>
      <${rop.Section} id="missing" title="Missing records" note=${run.missing ? rop.counted(run.missing, "record") : ""}><${Missing} run=${run} /></${rop.Section}>
      <${rop.Section} id="report" title="Report"><${Report} report=${run.report} /></${rop.Section}>`}
    </main>`;
  };
})((window.rop = window.rop || {}));
