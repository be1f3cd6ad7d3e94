// What handoffs add up to: the first sentence, verdicts, losses by place and cause.
"use strict";
(function (rop) {
  const { html } = rop;
  const ORDER = ["PASS", "FAIL", "UNVERIFIABLE", "SELECTOR_ERROR", "RESOLUTION_ERROR", "DECLARATION_INVALID", "NOT_APPLICABLE"];
  // The handoffs behind a number, among those that it was counted over.
  rop.to = (base, filter) => rop.link(["handoffs"], { ...base, ...filter });

  rop.Verdicts = ({ base, summary, total }) => {
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
        <a href=${rop.to(base, { verdict: verdict === "null" ? "-" : verdict })} title=${rop.words.verdict(verdict)}><b>${rop.count(summary.verdicts[verdict])}</b> <${rop.Verdict} of=${verdict} /></a>
        <small>${rop.words.verdict(verdict)}</small>
      </li>`)}</ul>
    </div>`;
  };

  // The first thing to know, in one sentence.
  rop.Headline = ({ base, summary, total }) => {
    const last = summary.survival.at(-1);
    if (!last || !last.selected.of) return html`<p class="headline">${rop.counted(total, "handoff")}.</p>`;
    const { of, kept } = last.selected;
    const lost = summary.losses.filter((each) => each.count);
    const most = lost[0];
    return html`<p class="headline">
      <b>${rop.count(kept)}</b> of ${rop.count(of)} selected objects reached the reader.
      ${most && html` <span class="bad-text">${lost.length > 1 ? "Most losses: " : "Lost: "}</span><a href=${rop.to(base, { at: rop.placeOf(most) || "-", cause: most.cause })}>
        <b>${rop.count(most.count)}</b> ${rop.placeOf(most) ? html`at <b>${rop.visible(rop.placeOf(most), 60)}</b>` : "at no stage"}, ${rop.visible(most.cause)}</a>.`}
    </p>
    ${most && html`<p class="subline">${rop.words.cause(most.cause).says} <b>Try:</b> ${rop.words.cause(most.cause).try}</p>`}`;
  };

  rop.Losses = ({ base, summary }) => {
    const { some, more } = rop.useMost(summary.losses, 50, "place");
    if (!summary.losses.length) return html`<p class="note">Nothing was lost, as far as is known.</p>`;
    return html`<${rop.Scroll} label="Losses by stage and cause"><table class="causes">
      <thead><tr><th scope="col">lost at</th><th scope="col">cause</th><th scope="col" class="number">selected</th><th scope="col" class="number">judged</th><th scope="col">what happened, and what to try</th></tr></thead>
      <tbody>${some.map((each) => {
        const place = rop.placeOf(each);
        const words = rop.words.cause(each.cause);
        return html`<tr>
          <th scope="row">${place ? rop.visible(place, 60) : html`<i>no stage</i>`}</th><td><code>${rop.visible(each.cause)}</code></td>
          <td class="number">${each.count ? html`<a href=${rop.to(base, { at: place || "-", cause: each.cause })}><b>${rop.count(each.count)}</b></a>` : "–"}</td>
          <td class="number">${each.judged ? html`<a href=${rop.to(base, { judged_loss: `${place || "-"}:${each.cause}` })}>${rop.count(each.judged)}</a>` : "–"}</td>
          <td class="words">${words.says} ${words.try && html`<span class="try">${words.try}</span>`}</td>
        </tr>`;
      })}</tbody>
    </table></${rop.Scroll}>${more}`;
  };
})((window.rop = window.rop || {}));
