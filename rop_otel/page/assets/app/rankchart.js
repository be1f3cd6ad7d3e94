// The rank chart: stages left to right, rank top to bottom, a line for each document.
"use strict";
(function (rop) {
  const { html, useState, useRef, useEffect, useMemo } = rop;
  const LEFT = 44, RIGHT = 232, NARROWEST = 72, WIDEST = 210, LEVEL = 20, LEAST_LABEL = 130, LETTER = 6.4, TITLES = 50, BOTTOM = 18, LEAST = 130;
  const GAP = 0.44; // of a column's width: where a line ends that was cut on the way

  function useWidth(ref) {
    const [width, put] = useState(1100);
    useEffect(() => {
      if (!ref.current) return undefined;
      const seen = new ResizeObserver(([entry]) => put(Math.round(entry.contentRect.width)));
      seen.observe(ref.current);
      return () => seen.disconnect();
    }, []);
    return width;
  }

  const curve = (x0, y0, x1, y1) => `M${x0} ${y0}C${x0 + (x1 - x0) / 2} ${y0} ${x1 - (x1 - x0) / 2} ${y1} ${x1} ${y1}`;
  const Cross = ({ x, y, size = 4 }) => html`<path class="cross" d=${`M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`} />`;

  function Way({ way, plan, on }) {
    const { x, y, width } = plan;
    const paths = way.lines.map(({ from, to }) => curve(x(from[0]), y(from[1]), x(to[0]), y(to[1])));
    const ends = way.ends.map((end) => {
      const far = end.how === "on the way" ? width * GAP + 3 : end.how === "dropped" ? 11 : 20;
      return { ...end, x: x(end.at) - far, y: y(end.from[1]), fromX: x(end.from[0]) };
    });
    const d = [...paths, ...ends.map((end) => `M${end.fromX} ${end.y}H${end.x}`)].join("");
    const large = way.kind !== "other" || on;
    return html`<g class=${`way ${way.kind} ${on ? "on" : ""}`}>
      ${way.kind === "judged" && html`<path class="casing" d=${d} />`}
      <path class="line" d=${d} />
      ${ends.map((end) => (rop.isLoss(end.how) ? html`<g class=${end.how === "on the way" ? "alarm" : ""}><${Cross} x=${end.x} y=${end.y} size=${large ? 5 : 3} /></g>` : html`<path class="open" d=${`M${end.x} ${end.y}m0 -3v6`} />`))}
      ${way.points.map((point) => {
        const size = large ? 4.5 : point.first ? 2.6 : point.at === "shown" ? 3 : 0;
        if (!size) return null;
        return html`<circle class=${point.hollow ? "hollow" : ""} cx=${x(point.at)} cy=${y(point.rank)} r=${size} />`;
      })}
    </g>`;
  }

  // Words on lines of so many letters; a word that is longer is cut, and so is what goes beyond the last line.
  function lines(text, letters, most) {
    const found = [""];
    for (const word of rop.visible(text, 200).split(/(?<=[_\-\s./])/)) {
      if ((found.at(-1) + word).trimEnd().length > letters && found.at(-1)) found.push("");
      found.push(found.pop() + word);
    }
    const some = found.map((line) => rop.cut(line.trim(), letters));
    return some.length <= most ? some : [...some.slice(0, most - 1), rop.cut(`${some[most - 1]}…`, letters)];
  }
  const Lines = ({ of, x, high, between = "" }) => of.map((line, index) => html`<tspan x=${x} dy=${index ? high : 0}>${index < of.length - 1 ? line + between : line}</tspan>`);

  function Column({ column, plan, loss }) {
    const { x, top, bottom, width } = plan;
    const middle = x(column.key);
    const title = lines(column.name || column.title, Math.floor(width / 7), 2);
    const reason = column.status === "ok" ? [] : lines(`${column.status}${column.reason ? `: ${column.reason}` : ""}`, Math.floor((width * 0.64) / LETTER), 6);
    const sub = column.name ? column.title : "";
    const size = column.returned === null || column.returned === undefined ? "" : column.cut ? `${rop.count(column.ids.length)} of ${rop.count(column.returned)}` : rop.count(column.returned);
    return html`<g class=${`column ${column.status} ${loss ? "loss" : ""}`}>
      <title>${rop.visible(column.title)}${column.reason ? `: ${rop.visible(column.reason)}` : ""}</title>
      ${loss && html`<rect class="place" x=${middle - width / 2 + 3} y=${top - TITLES - 6} width=${width - 6} height=${bottom - top + TITLES + 6} rx="6" />`}
      ${column.status !== "ok" && html`<rect class="hatched" x=${middle - width * 0.34} y=${top - 8} width=${width * 0.68} height=${bottom - top + 8} />`}
      <line class="stem" x1=${middle} x2=${middle} y1=${top - 6} y2=${bottom} />
      <text class="stage" x=${middle} y=${top - TITLES + 11}><${Lines} of=${title} x=${middle} high=${13} /></text>
      <text class="size" x=${middle} y=${top - 12}>${size}${sub ? ` · ${rop.cut(sub, Math.max(6, Math.floor(width / 7) - size.length - 3))}` : ""}</text>
      ${column.cut && html`<path class="edge" d=${`M${middle - 14} ${plan.y(column.ids.length) + 8}l4 4 4 -4 4 4 4 -4 4 4 4 -4 4 4`} />`}
      ${reason.length > 0 && html`<text class="reason" y=${(top + bottom) / 2 - 7 * (reason.length - 1)}><${Lines} of=${reason} x=${middle} high=${14} between=" " /></text>`}
    </g>`;
  }

  function planOf(columns, brackets, ways, room, labelled) {
    const right = labelled ? Math.max(LEAST_LABEL, Math.min(RIGHT, room - LEFT - NARROWEST * columns.length)) : 30;
    const width = Math.max(NARROWEST, Math.min(WIDEST, (room - LEFT - right) / columns.length));
    const deepest = Math.max(1, ...ways.flatMap((way) => way.points.map((point) => point.rank)), ...columns.filter((column) => column.cut).map((column) => column.ids.length));
    const levels = levelsOf(brackets);
    const top = levels * LEVEL + TITLES + 8;
    const places = new Map(columns.map((column, index) => [column.key, LEFT + width * (index + 0.5)]));
    const y = (rank) => top + 6 + rop.rankHeight(rank);
    const whole = LEFT + width * columns.length + right;
    return { width, top, y, picture: Math.max(whole, room), x: (key) => places.get(key), bottom: Math.max(y(deepest) + BOTTOM, top + LEAST), deepest, whole, right };
  }

  // Brackets that overlap stand above each other; each gets its level.
  function levelsOf(brackets) {
    const ends = [];
    for (const bracket of brackets) {
      let level = 0;
      while ((ends[level] || []).some((other) => bracket.from <= other.to && other.from <= bracket.to)) level += 1;
      (ends[level] ||= []).push(bracket);
      bracket.level = level;
    }
    return ends.length;
  }

  const Legend = ({ detail, columns }) => {
    const line = (kind, words, shape) => html`<li><svg viewBox="0 0 26 12" aria-hidden="true"><g class=${`way ${kind}`}>${shape}</g></svg>${words}</li>`;
    const straight = html`<path class="line" d="M1 6H25" />`;
    const judged = (detail.judged_ids || []).length > 0, hollow = (detail.shown.hollow || []).some(Boolean);
    return html`<ul class="legend" aria-label="Signs">
      ${line("selected", "selected", straight)}
      ${judged && line("judged", "judged", html`<path class="casing" d="M1 6H25" />${straight}`)}
      ${line("other", "others", html`${straight}<circle cx="4" cy="6" r="2.6" />`)}
      ${line("other", "dropped", html`<path class="line" d="M1 6H15" /><${Cross} x=${17} y=${6} size=${3.5} />`)}
      ${hollow && line("other", "shown without text, or in part", html`<path class="line" d="M1 6H16" /><circle class="hollow" cx="19" cy="6" r="4" />`)}
      ${detail.cutoff ? html`<li><i class="swatch band"></i>within the cutoff, ${detail.cutoff}</li>` : ""}
      ${columns.some((column) => column.status !== "ok") && html`<li><i class="swatch hatch"></i>failed, late or unreadable</li>`}
      ${columns.some((column) => column.cut) && html`<li><span aria-hidden="true">⌇ </span>recorded in part</li>`}
    </ul>`;
  };

  // What the pointer is near: the drawn document whose line is closest there.
  function nearest(event, svg, plan, ways, columns) {
    const box = svg.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    let best = null, least = 12;
    for (const way of ways) {
      const spots = [...way.lines.map(({ from, to }) => [plan.x(from[0]), plan.y(from[1]), plan.x(to[0]), plan.y(to[1])]),
        ...way.ends.map((end) => [plan.x(end.from[0]), plan.y(end.from[1]), plan.x(end.at), plan.y(end.from[1])]),
        ...way.points.map((point) => [plan.x(point.at) - 6, plan.y(point.rank), plan.x(point.at) + (point.at === "shown" ? plan.right : 6), plan.y(point.rank)])];
      for (const [x0, y0, x1, y1] of spots) {
        if (px < x0 || px > x1) continue;
        const part = (px - x0) / Math.max(1, x1 - x0), eased = part * part * (3 - 2 * part);
        const far = Math.abs(y0 + (y1 - y0) * eased - py);
        if (far < least) { least = far; best = way.id; }
      }
    }
    return best;
  }

  rop.RankChart = ({ detail, sameLink }) => {
    const [all, showAll] = useState(false);
    const [on, put] = useState(null);
    const frame = useRef(null), picture = useRef(null);
    const room = useWidth(frame);
    const columns = useMemo(() => rop.columnsOf(detail), [detail]);
    const { drawn, others, every } = useMemo(() => rop.drawnOf(detail, columns, all), [detail, columns, all]);
    const brackets = useMemo(() => rop.bracketsOf(columns), [columns]);
    const plan = planOf(columns, brackets, drawn, room, room > 560);
    const { x, y, top, bottom, width } = plan;
    const order = { other: 0, judged: 1, selected: 2 };
    const ways = [...drawn].sort((one, other) => order[one.kind] - order[other.kind]);
    const current = drawn.find((way) => way.id === on);
    const loss = detail.loss;

    useEffect(() => { // of many stages the one at fault is seen first
      const there = loss && typeof loss.place === "number" ? x(loss.place) : 0, scroll = picture.current?.parentElement;
      if (scroll && there + width > scroll.clientWidth) scroll.scrollLeft = there - scroll.clientWidth / 2;
    }, [detail, room]);

    const move = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") put(null);
      if (!step) return;
      event.preventDefault();
      const turn = [...ways].reverse();
      const now = turn.findIndex((way) => way.id === on);
      put(turn[(now + step + turn.length) % turn.length].id);
    };
    const point = (event) => put(nearest(event, picture.current, plan, drawn, columns) ?? null);
    const shownWays = drawn.filter((way) => way.points.some((each) => each.at === "shown"));
    const words = `Rank chart: ${rop.counted(columns.length, "column")}, ${rop.counted(drawn.length, "document")}. Arrow keys go from one document to the next; the table below has the same facts.`;

    return html`<div class="rankchart" ref=${frame}>
      <${Legend} detail=${detail} columns=${columns} />
      <div class="scroll chart-scroll" tabindex="0" role="application" aria-roledescription="chart" aria-label=${words} onKeyDown=${move}>
        <svg ref=${picture} class="ranks" width=${plan.picture} height=${bottom + 4} onPointerMove=${point} onPointerLeave=${() => put(null)} aria-hidden="true">
          <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch-line" x1="0" x2="0" y1="0" y2="6" /></pattern></defs>
          ${brackets.map((each) => {
            const x0 = x(columns[each.from].key) - width / 2 + 6, x1 = x(columns[each.to].key) + width / 2 - 6, line = 14 + each.level * LEVEL;
            return html`<g class=${`bracket ${each.kind}`}><path d=${`M${x0} ${line + 5}v-5H${x1}v5`} /><text x=${(x0 + x1) / 2} y=${line - 4}>${each.words}</text></g>`;
          })}
          ${detail.cutoff ? html`<rect class="cutoff" x=${x("shown") - width / 2 + 3} y=${y(1) - 10} width=${width - 6} height=${y(detail.cutoff + 0.5) - y(1) + 10} /><text class="cutoff-words" x=${x("shown") + width / 2 - 8} y=${y(detail.cutoff + 0.5) - 3}>cutoff ${detail.cutoff}</text>` : ""}
          ${rop.rankTicks(plan.deepest).map((rank) => html`<g class="tick"><line x1=${LEFT - 4} x2=${LEFT + width * columns.length} y1=${y(rank)} y2=${y(rank)} /><text x=${LEFT - 10} y=${y(rank) + 4}>${rop.count(rank)}</text></g>`)}
          ${columns.map((column) => html`<${Column} key=${column.key} column=${column} plan=${plan} loss=${loss && loss.place === column.key} />`)}
          ${ways.map((way) => html`<${Way} key=${way.id} way=${way} plan=${plan} />`)}
          ${current && html`<${Way} way=${current} plan=${plan} on />`}
          <${Labels} ways=${drawn} plan=${plan} current=${current} shownWays=${shownWays} loss=${loss} />
        </svg>
        <${rop.Trail} ways=${drawn} columns=${columns} current=${current} left=${LEFT} width=${width} loss=${loss} detail=${detail} />
      </div>
      <p class="live" role="status">${current ? sentence(current, columns) : ""}</p>
      ${others > 0 || all ? html`<p class="more"><button type="button" aria-pressed=${all} onClick=${() => showAll(!all)}>${all ? "Show only those that matter" : `Show the other ${rop.counted(others, "document")}`}</button>
        <span class="note">${all ? `All ${rop.count(every)} documents.` : "Drawn: selected, judged, shown, named in a finding, and the first ten of each list."}</span></p>` : ""}
    </div>`;
  };

  // IDs beside the lines: of what was shown, and of what matters where it ended.
  function Labels({ ways, plan, current, shownWays, loss }) {
    const { x, y, width } = plan;
    const letters = Math.floor((plan.right - 14) / LETTER);
    const last = [...shownWays].map((way) => [way, way.points.find((point) => point.at === "shown").rank]);
    const readers = plan.whole - plan.right;
    const placed = [], spots = [];
    const order = { selected: 0, judged: 1 };
    const ended = ways.filter((way) => way.kind !== "other" && way.ends.length && !way.points.some((point) => point.at === "shown")).sort((one, other) => order[one.kind] - order[other.kind]);
    return html`<g class="labels">
      ${plan.right > 100 && last.map(([way, rank]) => {
        const at = y(rank) + 4;
        const on = current && current.id === way.id;
        if (placed.some((other) => Math.abs(other - at) < 11) && !on && way.kind === "other") return null;
        placed.push(at);
        return html`<text class=${`${way.kind} ${on ? "on" : ""}`} x=${readers + 6} y=${at}><title>${rop.visible(way.id)}</title>${rop.middle(way.id, letters)}</text>`;
      })}
      ${ended.map((way) => {
        const end = way.ends.find((each) => loss && each.at === loss.place) ?? way.ends.at(-1);
        const at = x(end.at) - (end.how === "on the way" ? width * GAP - 8 : 1), high = y(end.from[1]) - 6;
        if (spots.some((spot) => Math.abs(spot - high) < 13)) return null;
        spots.push(high);
        const why = loss && loss.place === end.at && way.kind === "selected" ? rop.words.cause(loss.cause).says || loss.cause : rop.ENDINGS[end.how];
        const name = rop.middle(way.id, Math.min(40, Math.floor((plan.picture - LEFT) / (2 * LETTER))));
        const rest = rop.cut(why, Math.max(4, Math.floor((plan.picture - LEFT - name.length * LETTER) / LETTER) - 2));
        const long = (name.length + rest.length) * LETTER + 11; // where it does not fit to the right, it begins further left
        return html`<text class=${`end ${way.kind}`} x=${Math.max(4, Math.min(at, plan.picture - long))} y=${high}>${name}<tspan class="why" dx="7">${rest}</tspan></text>`;
      })}
    </g>`;
  }

  function sentence(way, columns) {
    const parts = rop.trailOf(way, columns).map((cell, index) => {
      const stage = columns[index].name || columns[index].title;
      if (cell.rank) return `${stage} ${cell.rank}`;
      return cell.end ? `${rop.ENDINGS[cell.end]} before or at ${stage}` : null;
    });
    return `${rop.visible(way.id)}${way.kind === "other" ? "" : `, ${way.kind}`}: ${parts.filter(Boolean).map((part) => rop.visible(part, 100)).join(", ")}.`;
  }
})((window.rop = window.rop || {}));
