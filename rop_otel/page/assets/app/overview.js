// How many arrive, where the others are lost, and what else was found. Every number leads to its handoffs.
"use strict";
(function (rop) {
  const { html, Id } = rop;

  function Findings({ base, summary }) {
    const { some, more } = rop.useMost(summary.findings, 50, "finding");
    if (!summary.findings.length) return html`<p class="note">No finding.</p>`;
    return html`<${rop.Scroll} label="Findings"><table class="causes">
      <thead><tr><th scope="col">severity</th><th scope="col">finding</th><th scope="col">at</th><th scope="col" class="number">count</th><th scope="col">what it says, and what to try</th></tr></thead>
      <tbody>${some.map((each) => {
        const words = rop.words.finding(each.code);
        return html`<tr>
          <td><${rop.Severity} of=${each.severity} /></td><th scope="row"><code>${rop.visible(each.code)}</code></th><td>${rop.visible(rop.placeOf(each), 60)}</td>
          <td class="number"><a href=${rop.to(base, { finding: `${each.code}@${each.stage}` })}><b>${rop.count(each.count)}</b></a></td>
          <td class="words">${words.says} ${words.try && html`<span class="try">${words.try}</span>`}</td>
        </tr>`;
      })}</tbody>
    </table></${rop.Scroll}>${more}`;
  }

  function Citations({ base, citations }) {
    return html`<dl class="figures">${rop.OUTCOMES.map((outcome) => html`<div key=${outcome} class=${citations[outcome] && outcome !== "resolved" ? "wrong" : ""}>
      <dt>${outcome}</dt>
      <dd><a href=${rop.to(base, { citation: outcome })}><b>${rop.count(citations[outcome] || 0)}</b></a><small>${rop.OUTCOME_WORDS[outcome]}</small></dd>
    </div>`)}</dl>`;
  }

  function Remarks({ summary }) {
    const named = (ids) => html`${ids.slice(0, 5).map((id, index) => html`${index ? ", " : ""}<${Id} of=${id} />`)}${ids.length > 5 ? ` and ${rop.count(ids.length - 5)} more` : ""}`;
    const lines = [
      summary.orphan_stages > 0 && html`${rop.counted(summary.orphan_stages, "stage span")} without a handoff: no handoff ID, and no handoff above.`,
      summary.incomplete_handoffs?.length > 0 && html`${rop.counted(summary.incomplete_handoffs.length, "handoff")} without a handoff span: ${named(summary.incomplete_handoffs)}.`,
      summary.duplicate_handoffs?.length > 0 && html`${rop.counted(summary.duplicate_handoffs.length, "handoff ID")} seen again, not assessed: ${named(summary.duplicate_handoffs)}.`,
      ...(summary.absent_resolvers || []).map((sha256) => html`The spans name the resolver <${Id} of=${sha256} />, which was not given; give its file with <code>--resolver</code>.`),
      summary.run && html`Run ${summary.run.run_id ? html`<${Id} of=${summary.run.run_id} />` : ""}: <b>${rop.visible(summary.run.status ?? summary.run.run_status ?? "see its report")}</b>.`,
    ].filter(Boolean);
    return lines.length ? html`<${rop.Section} id="remarks" title="Not in these numbers"><ul class="remarks">${lines.map((line) => html`<li>${line}</li>`)}</ul></${rop.Section}>` : null;
  }

  const LIMITS = ["name", "service", "run"];

  // What a server's totals are over.
  function Choices({ filter }) {
    const { value: choices } = rop.useAnswer(() => rop.feed.choices({ filter }), [filter.past, filter.since, filter.until]);
    const change = (name, value) => rop.go(["overview"], { ...filter, [name]: value });
    const known = choices && !rop.failed(choices) ? choices : {};
    return html`<form class="filters few" aria-label="What is added up" onSubmit=${(event) => event.preventDefault()}>
      <${rop.Past} value=${filter.past} change=${change} />
      ${LIMITS.map((name) => ((known[name] || []).length > 1 || filter[name] ? html`<${rop.Chosen} key=${name} name=${name} value=${filter[name]} choices=${known[name] || []} change=${change} />` : null))}
    </form>`;
  }

  function Sums({ base, summary, handoffs }) {
    return html`<${rop.Headline} base=${base} summary=${summary} total=${handoffs} />
      <${rop.Verdicts} base=${base} summary=${summary} total=${handoffs} />
      <${rop.Section} id="survival" title="Where the selected object gets lost" note="How many of a stage's lists hold it. The dark red piece is what was lost at that stage.">
        <${rop.Survival} base=${base} summary=${summary} />
      </${rop.Section}>
      <${rop.Section} id="losses" title="Losses by place and cause"><${rop.Losses} base=${base} summary=${summary} /></${rop.Section}>
      <${rop.Section} id="findings" title="Findings" note="What else is wrong, whether or not something was lost."><${Findings} base=${base} summary=${summary} /></${rop.Section}>
      <${rop.Section} id="scores" title="Scores by stage" note="Means over all handoffs, for the selected object and for the judged ones."><${rop.Scores} scores=${summary.scores} /></${rop.Section}>
      <${rop.Section} id="citations" title="Citations"><${Citations} base=${base} citations=${summary.citations} /></${rop.Section}>
      <${Remarks} summary=${summary} />`;
  }

  rop.Overview = ({ address }) => {
    const set = rop.setOf(address.params.set);
    const { since, until, past, name, service, run } = address.params;
    const filter = rop.feed.live ? rop.filterOf({ since, until, past, name, service, run }) : {};
    const { value: found, fresh } = rop.useAnswer(() => rop.feed.totals({ set, filter }), [set, filter]);
    const base = { set: set || "", ...filter };
    const there = found && !rop.failed(found);
    return html`<main id="main" aria-busy=${!fresh}>
      <div class="title"><${rop.Heading}>${rop.feed.live ? "Overview" : rop.visible(found.name, 80)}</${rop.Heading}>
        <p class="note" role="status">${there ? rop.counted(found.handoffs, "handoff") : ""}</p>
        <${rop.SetChoice} set=${set} change=${(chosen) => rop.go([], { set: chosen })} /></div>
      ${rop.feed.live && html`<${Choices} filter=${filter} />
      <${rop.FilterChips} filter=${filter} link=${(others) => rop.link(["overview"], others)} />`}
      ${!there ? html`<${rop.Waiting} value=${found} />`
        : found.handoffs === 0 ? html`<p class="nothing">No handoff matches these filters. <a href=${rop.link(["overview"])}>Remove all filters</a></p>`
        : html`<${Sums} base=${base} summary=${found.summary} handoffs=${found.handoffs} />`}
    </main>`;
  };
})((window.rop = window.rop || {}));
