// How many arrive, where the others are lost, and what else was found. Every number leads to its handoffs.
"use strict";
(function (rop) {
  const { html, Id } = rop;
  const ORDER = ["PASS", "FAIL", "UNVERIFIABLE", "SELECTOR_ERROR", "RESOLUTION_ERROR", "DECLARATION_INVALID", "NOT_APPLICABLE"];
  const to = (set, filter) => rop.link(["handoffs"], { set: set || "", ...filter });

  function Verdicts({ set, summary, total }) {
    const known = Object.keys(summary.verdicts);
    const verdicts = [...ORDER.filter((each) => known.includes(each)), ...known.filter((each) => !ORDER.includes(each))];
    let x = 0;
    const parts = verdicts.map((verdict) => {
      const width = (100 * summary.verdicts[verdict]) / total;
      x += width;
      return { verdict, x: x - width, width };
    });
    return html`<div class="verdicts">
      <svg class="strip" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        ${parts.map(({ verdict, x, width }) => html`<rect class=${`fill-${rop.verdictClass(verdict)}`} x=${x} y="0" width=${Math.max(0, width - 0.12)} height="6" />`)}
      </svg>
      <ul>${verdicts.map((verdict) => html`<li key=${verdict}>
        <a href=${to(set, { verdict: verdict === "null" ? "-" : verdict })} title=${rop.words.verdict(verdict)}><b>${rop.count(summary.verdicts[verdict])}</b> <${rop.Verdict} of=${verdict} /></a>
        <small>${rop.words.verdict(verdict)}</small>
      </li>`)}</ul>
    </div>`;
  }

  // The first thing to know, in one sentence.
  function Headline({ set, summary, total }) {
    const last = summary.survival.at(-1);
    if (!last || !last.selected.of) return html`<p class="headline">${rop.counted(total, "handoff")}.</p>`;
    const { of, kept } = last.selected;
    const lost = summary.losses.filter((each) => each.count);
    const most = lost[0];
    return html`<p class="headline">
      <b>${rop.count(kept)}</b> of ${rop.count(of)} selected objects reached the reader.
      ${most && html` <span class="bad-text">${lost.length > 1 ? "Most losses: " : "Lost: "}</span><a href=${to(set, { at: rop.placeOf(most) || "-", cause: most.cause })}>
        <b>${rop.count(most.count)}</b> ${rop.placeOf(most) ? html`at <b>${rop.visible(rop.placeOf(most), 60)}</b>` : "at no stage"}, ${rop.visible(most.cause)}</a>.`}
    </p>
    ${most && html`<p class="subline">${rop.words.cause(most.cause).says} <b>Try:</b> ${rop.words.cause(most.cause).try}</p>`}`;
  }

  function Bar({ kept, of, lost, most, hollow }) {
    const scale = 100 / Math.max(1, most);
    return html`<svg class=${`bar ${hollow ? "hollow" : ""}`} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="all" x="0" y="0" width=${of * scale} height="10" />
      <rect class="kept" x="0" y="0" width=${kept * scale} height="10" />
      ${lost > 0 && html`<rect class="lost" x=${kept * scale} y="0" width=${lost * scale} height="10" />`}
    </svg>`;
  }

  const lostThere = (losses, place, field) =>
    losses.filter((each) => rop.placeOf(each) === place && each[field]).map((each) => ({ cause: each.cause, count: each[field] }));

  function LostHere({ set, place, losses, judged }) {
    return html`${losses.map(({ cause, count }, index) => html`${index ? html`<br />` : ""}<a class="loss-link" title=${rop.words.cause(cause).says}
      href=${to(set, judged ? { judged_loss: `${place || "-"}:${cause}` } : { at: place || "-", cause })}><b>${rop.count(count)}</b> ${rop.visible(cause)}</a>`)}`;
  }

  function Survival({ set, summary }) {
    const { survival, losses } = summary;
    const most = (target) => Math.max(...survival.map((row) => row[target].of), 1);
    const judged = survival.some((row) => row.judged && row.judged.of);
    const places = survival.map(rop.placeOf);
    const elsewhere = [...new Set(losses.map(rop.placeOf))].filter((place) => !places.includes(place));
    const cells = (row, place, target, field) => {
      const lost = lostThere(losses, place, field);
      const here = lost.reduce((sum, each) => sum + each.count, 0);
      const held = row && row[target];
      return html`
        <td class="bar-cell">${held && held.of ? html`<${Bar} kept=${held.kept} of=${held.of} lost=${target === "selected" ? here : 0} most=${most(target)} hollow=${target === "judged"} />` : ""}</td>
        <td class="number">${held && held.of ? html`<a href=${to(set, { [target]: `${place}:0` })} title="show the handoffs in which this list lacks it"><b>${rop.count(held.kept)}</b><span class="faint"> / ${rop.count(held.of)}</span><span class="unseen">, show those in which ${rop.visible(rop.stageWords(place), 60)} lacks it</span></a>` : ""}</td>
        <td class="number share">${held && held.of ? rop.percent(held.kept, held.of) : ""}</td>
        <td class="lost-cell"><${LostHere} set=${set} place=${place} losses=${lost} judged=${field === "judged"} /></td>`;
    };
    const line = (row, place) => {
      const hit = losses.some((each) => rop.placeOf(each) === place && each.count);
      return html`<tr key=${place} class=${`${hit ? "hit" : ""} ${place === "shown" ? "total" : ""}`}>
        <th scope="row">${row ? rop.visible(rop.stageWords(place), 60) : place ? rop.visible(place, 60) : html`<i>at no stage</i>`}</th>
        ${cells(row, place, "selected", "count")}
        ${judged ? cells(row, place, "judged", "judged") : ""}
      </tr>`;
    };
    return html`<${rop.Scroll} label="Survival by stage"><table class="survival">
      <thead>
        ${judged ? html`<tr class="groups"><th></th><th colspan="4" scope="colgroup">selected object</th><th colspan="4" scope="colgroup">judged objects</th></tr>` : ""}
        <tr><th scope="col">stage</th>${(judged ? [0, 1] : [0]).map(() => html`<th scope="col" colspan="3">its lists hold it</th><th scope="col">lost here, with the cause</th>`)}</tr>
      </thead>
      <tbody>${survival.map((row, index) => line(row, places[index]))}${elsewhere.map((place) => line(null, place))}</tbody>
    </table></${rop.Scroll}>`;
  }

  function Causes({ set, summary }) {
    if (!summary.losses.length) return html`<p class="note">Nothing was lost, as far as is known.</p>`;
    return html`<${rop.Scroll} label="Losses by stage and cause"><table class="causes">
      <thead><tr><th scope="col">lost at</th><th scope="col">cause</th><th scope="col" class="number">selected</th><th scope="col" class="number">judged</th><th scope="col">what happened, and what to try</th></tr></thead>
      <tbody>${summary.losses.map((each) => {
        const place = rop.placeOf(each);
        const words = rop.words.cause(each.cause);
        return html`<tr>
          <th scope="row">${place ? rop.visible(place, 60) : html`<i>no stage</i>`}</th><td><code>${rop.visible(each.cause)}</code></td>
          <td class="number">${each.count ? html`<a href=${to(set, { at: place || "-", cause: each.cause })}><b>${rop.count(each.count)}</b></a>` : "–"}</td>
          <td class="number">${each.judged ? html`<a href=${to(set, { judged_loss: `${place || "-"}:${each.cause}` })}>${rop.count(each.judged)}</a>` : "–"}</td>
          <td class="words">${words.says} ${words.try && html`<span class="try">${words.try}</span>`}</td>
        </tr>`;
      })}</tbody>
    </table></${rop.Scroll}>`;
  }

  function Findings({ set, summary }) {
    if (!summary.findings.length) return html`<p class="note">No finding.</p>`;
    return html`<${rop.Scroll} label="Findings"><table class="causes">
      <thead><tr><th scope="col">severity</th><th scope="col">finding</th><th scope="col">at</th><th scope="col" class="number">count</th><th scope="col">what it says, and what to try</th></tr></thead>
      <tbody>${summary.findings.map((each) => {
        const words = rop.words.finding(each.code);
        return html`<tr>
          <td><${rop.Severity} of=${each.severity} /></td><th scope="row"><code>${rop.visible(each.code)}</code></th><td>${rop.visible(rop.placeOf(each), 60)}</td>
          <td class="number"><a href=${to(set, { finding: `${each.code}@${each.stage}` })}><b>${rop.count(each.count)}</b></a></td>
          <td class="words">${words.says} ${words.try && html`<span class="try">${words.try}</span>`}</td>
        </tr>`;
      })}</tbody>
    </table></${rop.Scroll}>`;
  }

  function Citations({ set, citations }) {
    return html`<dl class="figures">${rop.OUTCOMES.map((outcome) => html`<div key=${outcome} class=${citations[outcome] && outcome !== "resolved" ? "wrong" : ""}>
      <dt>${outcome}</dt>
      <dd><a href=${to(set, { citation: outcome })}><b>${rop.count(citations[outcome] || 0)}</b></a><small>${rop.OUTCOME_WORDS[outcome]}</small></dd>
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

  rop.Overview = ({ address }) => {
    const head = rop.feed.head();
    const set = Math.min(Number(address.params.set) || 0, head.sets.length - 1);
    const { summary, name, handoffs } = head.sets[set];
    return html`<main id="main">
      <div class="title"><${rop.Heading}>${rop.visible(name, 80)}</${rop.Heading}>
        <p class="note">${rop.counted(handoffs, "handoff")}</p>
        <${rop.SetChoice} set=${set} change=${(chosen) => rop.go([], { set: chosen })} /></div>
      <${Headline} set=${set} summary=${summary} total=${handoffs} />
      <${Verdicts} set=${set} summary=${summary} total=${handoffs} />
      <${rop.Section} id="survival" title="Where the selected object gets lost" note="How many of a stage's lists hold it. The dark red piece is what was lost at that stage.">
        <${Survival} set=${set} summary=${summary} />
      </${rop.Section}>
      <${rop.Section} id="losses" title="Losses by place and cause"><${Causes} set=${set} summary=${summary} /></${rop.Section}>
      <${rop.Section} id="findings" title="Findings" note="What else is wrong, whether or not something was lost."><${Findings} set=${set} summary=${summary} /></${rop.Section}>
      <${rop.Section} id="scores" title="Scores by stage" note="Means over all handoffs, for the selected object and for the judged ones."><${rop.Scores} scores=${summary.scores} /></${rop.Section}>
      <${rop.Section} id="citations" title="Citations"><${Citations} set=${set} citations=${summary.citations} /></${rop.Section}>
      <${Remarks} summary=${summary} />
    </main>`;
  };
})((window.rop = window.rop || {}));
