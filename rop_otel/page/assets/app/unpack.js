// Details as page/packed_details.py writes them: rop.unpack(block, place) gives one as the views read it.
"use strict";
(function (rop) {
  const numbers = (texts) => texts.map(Number);
  const listOf = (list, texts) => (Array.isArray(list) ? list : list.t ? list.t.map((at) => texts[at]) : list.f ? list.f.map(Math.fround) : numbers(list.n));
  const isObject = (value) => value !== null && typeof value === "object";
  const mapped = (value, change) => Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]));

  // OTLP's form of a value: every attribute of a handoff is text, truth value, number or a list of these.
  const otlpNumber = (value) => (Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: Number.isFinite(value) ? value : String(value) });
  const otlpValue = (value) =>
    Array.isArray(value) ? { arrayValue: { values: value.map(otlpValue) } }
    : typeof value === "string" ? { stringValue: value }
    : typeof value === "boolean" ? { boolValue: value }
    : otlpNumber(value);
  const otlpSpan = (span) => ({ ...span, attributes: Object.entries(span.attributes).map(([key, value]) => ({ key, value: otlpValue(value) })) });
  const otlp = (groups) => ({
    resourceSpans: groups.map(({ service, scope, spans }) => ({
      resource: service === null ? {} : { attributes: [{ key: "service.name", value: otlpValue(service) }] },
      scopeSpans: [{ scope: { name: scope }, spans: spans.map(otlpSpan) }],
    })),
  });

  // A list as Python writes it, in ASCII, so that nothing in a copied test is hidden or turned around.
  const escaped = (char) => (char.codePointAt(0) > 0xffff ? `\\U${char.codePointAt(0).toString(16).padStart(8, "0")}` : `\\u${char.codePointAt(0).toString(16).padStart(4, "0")}`);
  const python = (value) =>
    typeof value === "string" ? JSON.stringify(value).replace(/[^\x20-\x7e]/gu, escaped)
    : typeof value === "boolean" ? (value ? "True" : "False")
    : Number.isFinite(value) ? String(value) : `float("${value}")`;
  const pythonList = (list) => `[${list.map(python).join(", ")}]`;

  rop.unpack = (block, place) => {
    const known = block.lists[place].map((list) => listOf(list, block.texts[place]));
    const whole = (value) =>
      Array.isArray(value) ? value.map(whole) : !isObject(value) ? value : "$" in value ? known[value.$] : mapped(value, whole);
    const detail = whole(block.handoffs[place]);
    detail.test = detail.test && detail.test.map((part) => (typeof part === "string" ? part : pythonList(part))).join("");
    detail.spans = detail.spans && otlp(detail.spans);
    return detail;
  };
})((window.rop = window.rop || {}));
