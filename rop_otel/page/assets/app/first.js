// What stands there before the first handoff: how to send it.
"use strict";
(function (rop) {
  const { html } = rop;
  const HANDOFF = `@rop.stage("vector")
def search(question):
    return [{"id": "queues", "score": 0.8}, {"id": "timeouts", "score": 0.7}]

with rop.handoff("docs-qa") as handoff:
    handoff.select("timeouts")
    hits = search("How do I stop waiting?")
    with rop.using_stage("packing", input=hits) as packing:
        packing.returned(hits[:1])`;
  const example = (configured) => `import rop_otel as rop\n\nrop.configure(${configured})\n\n${HANDOFF}`;

  const File = () => html`<main id="main" class="empty"><${rop.Heading}>No handoff yet</${rop.Heading}>
    <p>This file has no handoff: no span in it carries a handoff's name. Send the first one:</p>
    <ol><li>Install <code>rop-otel</code> into your application's environment.</li>
      <li>Decorate what retrieves, and open a handoff around it:<pre tabindex="0">${example('service_name="docs-rag"')}</pre></li>
      <li>Keep the spans with the collector's file exporter, and draw them: <pre tabindex="0">rop-otel replay spans.jsonl --html page.html</pre></li></ol>
    <p>Or look at an example first: <code>rop-otel demo --fault hidden_cut --html page.html</code>.</p></main>`;

  const Server = () => {
    const endpoint = new URL("v1/traces", location.href.split("#")[0]).href;
    const settings = `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${endpoint}\nOTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf`;
    return html`<main id="main" class="empty"><${rop.Heading}>No handoff yet</${rop.Heading}>
      <p>This monitor has stored no handoff. It receives spans at <code>${endpoint}</code>. Send the first one:</p>
      <ol><li>In each service, tell OpenTelemetry's exporter where this monitor is: <pre tabindex="0">${settings}</pre>
          <span class="note">If the monitor asks for a token, add <code>OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20</code> and the token.</span></li>
        <li>In Python, decorate what retrieves, and open a handoff around it:<pre tabindex="0">${example('service_name="docs-rag", assess="monitor"')}</pre>
          <span class="note">A service in another language sends spans with the same attributes: <code>rop.handoff.name</code>, <code>rop.selected.ids</code>, <code>rop.stage</code>, <code>rop.returned.ids</code>.</span></li></ol>
      <p role="status">This page shows the handoff as soon as its trace is quiet. It is waiting for it.</p></main>`;
  };

  rop.First = () => (rop.feed.live ? html`<${Server} />` : html`<${File} />`);

  // How many handoffs there are in all; where there is none, a server is asked again and again. Undefined while that is not known.
  const SOON = 2_000;
  rop.useStored = () => {
    const [turn, again] = rop.useState(0);
    const { value, fresh } = rop.useAnswer(rop.feed.stored, turn);
    rop.useEffect(() => {
      if (!rop.feed.live || !fresh || (value !== 0 && !rop.failed(value))) return undefined;
      const timer = setTimeout(() => again(turn + 1), SOON);
      return () => clearTimeout(timer);
    }, [fresh, turn]);
    return value;
  };
})((window.rop = window.rop || {}));
