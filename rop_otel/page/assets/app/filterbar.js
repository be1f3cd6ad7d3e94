// The search and the filters above a table.
"use strict";
(function (rop) {
  const { html, useState, useEffect, useRef } = rop;
  const LABELS = { verdict: "Verdict", at: "Lost at", cause: "Cause", finding: "Finding", name: "Handoff", service: "Service" };
  const NAMES = {
    ...LABELS, q: "Search", record: "Record", object: "Object", run: "Run", selected: "Selected object", judged: "Judged objects",
    judged_loss: "Judged object lost", citation: "Citation",
  };
  const PAUSE = 120;

  // What an active filter says, in words.
  rop.filterWords = (name, value) => {
    if (name === "selected" || name === "judged") {
      const split = value.lastIndexOf(":");
      return `${rop.stageWords(value.slice(0, split))} ${value.endsWith(":1") ? "holds it" : "lacks it"}`;
    }
    if (name === "judged_loss") return value.replace(/:([^:]*)$/, " ($1)").replace(/^- /, "no stage ");
    return value === "-" ? (name === "at" ? "no stage" : "none") : value;
  };

  function Typed({ name, value, change }) {
    const [typed, put] = useState(value);
    const timer = useRef(0);
    useEffect(() => { put(value); }, [value]);
    useEffect(() => () => clearTimeout(timer.current), []);
    const type = (text) => {
      put(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => change(name, text), PAUSE);
    };
    const hint = { q: "record, object, trace …", record: "contains …", object: "ID contains …" }[name];
    return html`<label class=${name === "q" ? "wide" : ""}>${NAMES[name]}
      <input type="search" name=${name} value=${typed} placeholder=${hint} onInput=${(event) => type(event.target.value)} />
    </label>`;
  }

  function Chosen({ name, value, choices, change }) {
    const known = choices.some(([key]) => key === value);
    const all = value && !known ? [...choices, [value, 0]] : choices;
    const words = (key) => rop.visible(name === "finding" ? key.replace("@", " at ") : rop.filterWords(name, key), 60);
    return html`<label>${LABELS[name]}
      <select name=${name} value=${value} onChange=${(event) => change(name, event.target.value)}>
        <option value="">all</option>
        ${all.map(([key, count]) => html`<option value=${key} selected=${key === value}>${words(key)} (${rop.count(count)})</option>`)}
      </select>
    </label>`;
  }

  rop.FilterBar = ({ rows, set, filter, change, label = "Filters" }) => html`<form class="filters" role="search" aria-label=${label} onSubmit=${(event) => event.preventDefault()}>
    <${Typed} name="q" value=${filter.q || ""} change=${change} />
    ${Object.keys(LABELS).map((name) => {
      const choices = rop.choices(rows, filter, set, name);
      if (choices.length < 2 && !filter[name] && (name === "name" || name === "service")) return null;
      return html`<${Chosen} key=${name} name=${name} value=${filter[name] || ""} choices=${choices} change=${change} />`;
    })}
    <${Typed} name="record" value=${filter.record || ""} change=${change} />
    <${Typed} name="object" value=${filter.object || ""} change=${change} />
  </form>`;

  // The active filters, each with a way to take it off.
  rop.FilterChips = ({ filter, link }) => {
    const names = Object.keys(filter);
    if (!names.length) return null;
    return html`<ul class="chips" aria-label="Active filters">
      ${names.map((name) => {
        const { [name]: value, ...others } = filter;
        const words = `${NAMES[name]}: ${rop.visible(rop.filterWords(name, value), 60)}`;
        return html`<li key=${name}><a href=${link(others)} aria-label=${`Remove the filter ${words}`}>${words}<span aria-hidden="true"> ×</span></a></li>`;
      })}
      <li><a class="plain" href=${link({})}>Remove all</a></li>
    </ul>`;
  };

  rop.SetChoice = ({ set, change, label = "Set" }) => {
    const { sets } = rop.feed.head();
    if (sets.length < 2) return null;
    return html`<label class="set">${label}
      <select name="set" onChange=${(event) => change(event.target.value)}>
        ${sets.map((each, index) => html`<option value=${index} selected=${index === set}>${rop.visible(each.name, 60)}</option>`)}
      </select>
    </label>`;
  };
})((window.rop = window.rop || {}));
