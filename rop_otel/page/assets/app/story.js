// The parts of one handoff in words: what happened, what is known of it, findings, judged losses, what can be taken away.
"use strict";
(function (rop) {
  const { html, useState, Id } = rop;

  const MOST_FOUND = 2;
  const Ids = ({ of }) => html`${of.slice(0, 5).map((id, index) => html`${index ? ", " : ""}<${Id} of=${id} />`)}${of.length > 5 ? ` and ${rop.count(of.length - 5)} more` : ""}`;

  rop.Story = ({ detail, more, moreLink }) => {
    const { loss, verdict } = detail;
    const found = detail.findings;
    const all = html`<a href="#findings" onClick=${jump("findings")}>${rop.counted(found.length, "finding")}</a>`;
    const says = loss ? loss.says : verdict === "PASS" ? `The selected object was shown to the reader${detail.selected_rank ? `, in place ${detail.selected_rank}` : ""}.` : detail.note || rop.words.verdict(verdict);
    return html`<div class=${`story ${rop.verdictClass(verdict)}`}>
      <p class="says"><bdi>${rop.visible(says, 2000)}</bdi></p>
      ${loss && loss.try && html`<p class="try"><b>Try:</b> ${rop.visible(loss.try, 2000)}</p>`}
      ${!loss && found.slice(0, MOST_FOUND).map((each) => html`<p class="found"><${rop.Severity} of=${each.severity} /> <bdi>${rop.visible(each.message, 400)}</bdi></p>`)}
      ${!loss && found.length > MOST_FOUND && html`<p class="note">${all}</p>`}
      ${loss && html`<p class="same">${more === undefined ? "" : more > 0 ? html`<a href=${moreLink}><b>${rop.count(more)} more like this</b></a> <span class="note">same place, cause and handoff</span>` : html`<span class="note">No other handoff was lost like this.</span>`}${found.length ? html` <span class="note">· ${all}</span>` : ""}</p>`}
    </div>`;
  };

  const jump = (id) => (event) => {
    event.preventDefault();
    const target = document.getElementById(id);
    target.scrollIntoView();
    target.setAttribute("tabindex", "-1");
    target.focus();
  };

  rop.Facts = ({ detail }) => {
    const head = rop.feed.head();
    const trace = typeof head.trace_url === "string" && /^https?:\/\//.test(head.trace_url) ? head.trace_url.replace("{trace_id}", encodeURIComponent(rop.addressed(detail.trace_id))) : null;
    const terms = [detail.mode !== "hard" && `mode ${detail.mode}`, detail.rule && detail.rule !== "any" && `rule ${detail.rule}`, detail.need && detail.need !== "one" && `need ${detail.need}`, detail.cutoff && `cutoff ${detail.cutoff}`].filter(Boolean);
    const rows = [
      ["selected", detail.selected && detail.selected.length ? html`<span class="selected"><${Ids} of=${detail.selected} /></span>` : html`<span class="faint">nothing</span>`],
      ["judged", detail.judged && detail.judged.length ? html`<span class="judged"><${Ids} of=${detail.judged} /></span>` : html`<span class="faint">nothing</span>`],
      (detail.joint || typeof detail.agreement === "boolean") && ["both targets", `${rop.JOINT[detail.joint] || ""} ${typeof detail.agreement === "boolean" ? `The selected object is ${detail.agreement ? "a" : "no"} judged one.` : ""}`],
      detail.question && ["question", html`<bdi>${rop.visible(detail.question, 1000)}</bdi>`],
      detail.scope && ["scope", html`<${Id} of=${detail.scope} />`],
      terms.length > 0 && ["terms", rop.visible(terms.join(", "))],
      ["trace", html`${trace ? html`<a href=${trace} rel="noreferrer noopener" target="_blank"><${Id} of=${detail.trace_id} /></a>` : html`<${Id} of=${detail.trace_id} />`} <${rop.Copy} text=${detail.trace_id} words="Copy" label="Copy the trace ID" />`],
      ["handoff", html`${rop.visible(detail.handoff_name, 60)}${detail.service ? html` in ${rop.visible(detail.service, 60)}` : ""}, <${Id} of=${detail.handoff_id} />${detail.run_id ? html`, run <${Id} of=${detail.run_id} />` : ""}`],
      ["when", `${rop.moment(detail.start)} UTC, ${rop.seconds(detail.duration)}`],
    ];
    return html`<dl class="about">${rows.filter(Boolean).map(([term, what]) => html`<div key=${term}><dt>${term}</dt><dd>${what}</dd></div>`)}</dl>`;
  };

  rop.Copy = ({ text, words, label }) => {
    const [done, put] = useState("");
    const copy = async () => {
      try { await navigator.clipboard.writeText(text); put("Copied"); } catch { put("Not allowed here: select it and copy it"); }
      setTimeout(() => put(""), 2000);
    };
    return html`<button type="button" class="small" aria-label=${label} onClick=${copy}>${words}</button><span role="status" class="done">${done}</span>`;
  };

  rop.FoundHere = ({ findings }) => {
    const { some, more } = rop.useMost(findings, 30, "finding");
    if (!findings.length) return html`<p class="note">No finding.</p>`;
    return html`<ol class="findings">${some.map((each, index) => html`<li key=${index} class=${each.severity}>
      <p><${rop.Severity} of=${each.severity} /> <code>${rop.visible(each.code)}</code> at <b>${rop.visible(rop.placeOf(each), 60)}</b></p>
      <p class="says"><bdi>${rop.visible(each.message, 4000)}</bdi></p>
      ${each.try && html`<p class="try"><b>Try:</b> ${rop.visible(each.try, 1000)}</p>`}
      ${each.ids.length > 0 && html`<details><summary>${rop.counted(each.ids.length, "document")}</summary><ul class="ids">${each.ids.slice(0, 1000).map((id) => html`<li><${Id} of=${id} /></li>`)}</ul></details>`}
      ${each.labels.length > 0 && html`<p>Labels: ${each.labels.slice(0, 100).map((label) => html`<span class="label">${rop.visible(label, 30)}</span> `)}</p>`}
    </li>`)}</ol>${more}`;
  };

  rop.JudgedLosses = ({ losses }) => {
    if (losses === null || losses === undefined) return html`<p class="note">It is not known which judged objects the reader was shown.</p>`;
    if (!losses.length) return html`<p class="note">No judged object is missing.</p>`;
    return html`<${rop.Scroll} label="Judged objects that the reader was not shown"><table class="causes">
      <thead><tr><th scope="col">judged object</th><th scope="col">lost at</th><th scope="col">cause</th><th scope="col">what to try</th></tr></thead>
      <tbody>${losses.slice(0, 500).map((lost) => html`<tr><th scope="row"><${Id} of=${lost.id} /></th><td>${rop.visible(rop.droppedAt(lost) === "-" ? "no stage" : rop.droppedAt(lost), 60)}</td><td><code>${rop.visible(lost.drop_cause)}</code></td><td class="words">${rop.words.cause(lost.drop_cause).says} <span class="try">${rop.words.cause(lost.drop_cause).try}</span></td></tr>`)}</tbody>
    </table></${rop.Scroll}>`;
  };

  function save(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  rop.Keep = ({ detail }) => {
    const name = (detail.record_id || detail.handoff_id).replace(/[^\w.-]+/g, "_").slice(0, 60);
    return html`<div class="keep">
      <div><p>A pytest function that fails as this handoff did.</p>
        <p>${detail.test ? html`<${rop.Copy} text=${detail.test} words="Copy as test" label="Copy as test" />` : html`<span class="note">There is none for this handoff.</span>`}</p>
        ${detail.test && html`<details><summary>Show the test</summary><pre tabindex="0">${detail.test.replace(/[^\P{C}\n\t]/gu, (char) => rop.visible(char))}</pre></details>`}</div>
      <div><p>Its spans as OTLP JSON, for <code>rop-otel replay</code>.</p>
        <p>${detail.spans ? html`<button type="button" class="small" onClick=${() => save(`${name}.json`, JSON.stringify(detail.spans), "application/json")}>Download spans</button>` : html`<span class="note">The spans are not at hand.</span>`}</p></div>
    </div>`;
  };
})((window.rop = window.rop || {}));
