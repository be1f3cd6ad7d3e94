// How many of a stage's lists hold the object, and what was lost there.
"use strict";
(function (rop) {
  const { html } = rop;
  const MOST = 50; // stages shown at first; of more of them those first that lost something

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

  function LostHere({ base, place, losses, judged }) {
    return html`${losses.map(({ cause, count }, index) => html`${index ? html`<br />` : ""}<a class="loss-link" title=${rop.words.cause(cause).says}
      href=${rop.to(base, judged ? { judged_loss: `${place || "-"}:${cause}` } : { at: place || "-", cause })}><b>${rop.count(count)}</b> ${rop.visible(cause)}</a>`)}`;
  }

  rop.Survival = ({ base, summary }) => {
    const { survival, losses } = summary;
    const most = (target) => Math.max(...survival.map((row) => row[target].of), 1);
    const judged = survival.some((row) => row.judged && row.judged.of);
    const places = survival.map(rop.placeOf);
    const hits = new Set(losses.filter((each) => each.count || each.judged).map(rop.placeOf));
    const { some, more } = rop.useMost([...survival].sort((one, other) => (survival.length > MOST ? hits.has(rop.placeOf(other)) - hits.has(rop.placeOf(one)) : 0)), MOST, "stage");
    const elsewhere = [...new Set(losses.map(rop.placeOf))].filter((place) => !places.includes(place));
    const cells = (row, place, target, field) => {
      const lost = lostThere(losses, place, field);
      const here = lost.reduce((sum, each) => sum + each.count, 0);
      const held = row && row[target];
      return html`
        <td class="bar-cell">${held && held.of ? html`<${Bar} kept=${held.kept} of=${held.of} lost=${target === "selected" ? here : 0} most=${most(target)} hollow=${target === "judged"} />` : ""}</td>
        <td class="number">${held && held.of ? html`<a href=${rop.to(base, { [target]: `${place}:0` })} title="show the handoffs in which this list lacks it"><b>${rop.count(held.kept)}</b><span class="faint"> / ${rop.count(held.of)}</span><span class="unseen">, show those in which ${rop.visible(rop.stageWords(place), 60)} lacks it</span></a>` : ""}</td>
        <td class="number share">${held && held.of ? rop.percent(held.kept, held.of) : ""}</td>
        <td class="lost-cell"><${LostHere} base=${base} place=${place} losses=${lost} judged=${field === "judged"} /></td>`;
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
      <tbody>${some.map((row) => line(row, rop.placeOf(row)))}${elsewhere.map((place) => line(null, place))}</tbody>
    </table></${rop.Scroll}>${more}`;
  };
})((window.rop = window.rop || {}));
