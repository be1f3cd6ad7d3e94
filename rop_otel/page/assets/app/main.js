// The frame around the views: which one the address names, the way to the others, light and dark.
"use strict";
(function (rop) {
  const { html, useEffect, useState, useRef } = rop;
  const VIEWS = { handoffs: "Handoffs", handoff: "Handoff", compare: "Compare" };
  const THEMES = ["auto", "light", "dark"];

  function remembered() {
    try { return localStorage.getItem("rop-theme") || "auto"; } catch { return "auto"; }
  }

  function Theme() {
    const [theme, put] = useState(remembered);
    useEffect(() => {
      document.documentElement.dataset.theme = theme;
      try { localStorage.setItem("rop-theme", theme); } catch { /* a file may not remember */ }
    }, [theme]);
    return html`<label class="theme">Theme <select name="theme" onChange=${(event) => put(event.target.value)}>
      ${THEMES.map((each) => html`<option value=${each} selected=${each === theme}>${each}</option>`)}</select></label>`;
  }

  const EXAMPLE = `import rop_otel as rop

rop.configure(service_name="docs-rag")

@rop.stage("vector")
def search(question):
    return [{"id": "queues", "score": 0.8}, {"id": "timeouts", "score": 0.7}]

with rop.handoff("docs-qa") as handoff:
    handoff.select("timeouts")
    hits = search("How do I stop waiting?")
    with rop.using_stage("packing", input=hits) as packing:
        packing.returned(hits[:1])`;

  const Empty = () => html`<main id="main" class="empty"><${rop.Heading}>No handoff yet</${rop.Heading}>
    <p>This file has no handoff: no span in it carries a handoff's name. Send the first one:</p>
    <ol><li>Install <code>rop-otel</code> into your application's environment.</li>
      <li>Decorate what retrieves, and open a handoff around it:<pre tabindex="0">${EXAMPLE}</pre></li>
      <li>Keep the spans with the collector's file exporter, and draw them: <pre tabindex="0">rop-otel replay spans.jsonl --html page.html</pre></li></ol>
    <p>Or look at an example first: <code>rop-otel demo --fault hidden_cut --html page.html</code>.</p></main>`;

  function View({ address }) {
    const { sets } = rop.feed.head();
    if (!sets.some((set) => set.handoffs > 0)) return html`<${Empty} />`;
    if (address.path[0] === "handoffs") return html`<${rop.Handoffs} address=${address} />`;
    if (address.path[0] === "handoff") return html`<${rop.Handoff} address=${address} />`;
    if (address.path[0] === "compare") return html`<${rop.Compare} address=${address} />`;
    return html`<${rop.Overview} address=${address} />`;
  }

  function Page() {
    const address = rop.useAddress();
    const head = rop.feed.head();
    const view = address.path[0] || "";
    const where = address.path.join("/");
    const seen = useRef(where);
    if (seen.current !== where) { // before the views are drawn: their heading asks
      seen.current = where;
      rop.arrival = { count: rop.arrival.count + 1, fresh: true };
    }
    useEffect(() => {
      document.title = `${[VIEWS[view] ? `${VIEWS[view]}${view === "handoff" ? ` ${rop.visible(address.path[1], 40)}` : ""}` : "Overview", head.title].filter(Boolean).map((part) => rop.visible(part, 80)).join(" · ")} · rop-otel`;
      if (rop.arrival.count) scrollTo(0, 0);
    }, [where]);
    const set = address.params.set || "";
    const tab = (name, path, words) => html`<a href=${rop.link(path, { set: name === "compare" ? "" : set })} aria-current=${view === name || (name === "handoffs" && view === "handoff") ? "page" : null}>${words}</a>`;
    return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector("h1")?.focus(); }}>To the content</a>
      <header class="top"><a class="brand" href="#/"><svg viewBox="0 0 24 24" aria-hidden="true"><path class="thin" d="M2 6C9 6 9 12 15 12M2 18C9 18 9 17 15 17" /><path class="thick" d="M2 12C9 12 9 6 22 6" /><circle cx="22" cy="6" r="2" /></svg>rop-otel</a>
        <nav aria-label="Views">${tab("", [], "Overview")}${tab("handoffs", ["handoffs"], "Handoffs")}${tab("compare", ["compare"], "Compare")}</nav>
        <${Theme} /></header>
      <${View} address=${address} />
      <footer><p>${rop.visible(head.title, 120)}${head.made_at ? ` · made ${rop.visible(head.made_at, 100)}` : ""} · rop-otel ${rop.visible(head.version, 100)} · nothing on this page was fetched from elsewhere</p></footer>`;
  }

  const root = document.getElementById("page");
  root.replaceChildren();
  preact.render(html`<${Page} />`, root);
})((window.rop = window.rop || {}));
