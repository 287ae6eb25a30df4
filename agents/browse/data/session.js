"use strict";
// One session: what is asked in each wording, what is right, how it is judged, who the patient is.

const NAMES = { en: "English", zh: "中文" };

function sessionOf(session, body, record, changed) {
  const rows = new Map(body.rows.map((row) => [rowKey(row[0], row[1], row[2]), row]));
  const ask = (turn, what, key = "") => {
    const row = rows.get(rowKey(turn, what, key));
    return row ? asked(session, row, changed) : null;
  };
  return [facts(session, body), labels(body), ask(null, "plausibility"), recordOf(record, body, session),
    ...body.turns.map((turn, at) => turnOf(session, body, turn, at, ask)), patientOf(body)];
}

function facts(session, body) {
  const hidden = Object.entries(body.view).filter(([, names]) => names.length).map(([name, names]) => `${name}: ${names.join(", ")}`);
  const { unit, scope, n } = body.budget;
  return factList([
    ["Scenario, tier", `${session.scenario}, ${session.tier}`], ["Patient", session.patient], ["Stay", body.encounter],
    ["Now", body.anchor], ["Licence", body.licence], ["Use, split", `${body.use}, ${session.split}`],
    ["Made by", `${body.provenance.generator} ${body.provenance.version}, seed ${body.provenance.seed}`],
    ["Hidden from agents", hidden.join("; ")], ["Tools", body.tools ? body.tools.join(", ") : ""],
    ["Budget", `${n} ${unit} a ${scope}`], ["Opening words", body.context ? [body.context.en, body.context.zh].filter(Boolean).join(" / ") : ""],
    ["Recorded results", body.recordings || ""], ["Canary", body.labels.canary],
  ]);
}

// What the generator noted of its plan.
function labels(body) {
  const told = Object.entries(body.labels).filter(([name, value]) => name !== "canary" && value !== "");
  return told.length ? fold(`${told.length} labels of the plan`, () => factList(told)) : null;
}

// JSON to be read: what is short stays on one line.
function readable(value, indent = "") {
  const told = JSON.stringify(value);
  if (value === null || typeof value !== "object" || told.length + indent.length <= 90) return told;
  const deeper = `${indent} `;
  const lines = Array.isArray(value) ? value.map((one) => readable(one, deeper))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${readable(one, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.map((one) => `${deeper}${one}`).join(",\n")}\n${indent}${close}`;
}

function code(value) {
  return make("pre", readable(value), { dir: "ltr", tabindex: "0" }); // it scrolls where it is long, so the keyboard must reach it
}

function factList(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl.facts", told.flatMap(([name, value]) => [make("dt", name), make("dd", prose(value))]));
}

function turnOf(session, body, turn, at, ask) {
  const type = turn.implicitness ? turn.implicitness : "explicit only";
  const plan = [`source: ${turn.source}`, turn.depends_on.length ? `rests on turn ${turn.depends_on.join(", ")}` : "",
    turn.topic ? `topic: ${turn.topic}` : "", turn.answer_format === "text" ? "" : `answer as ${turn.answer_format}`,
    turn.options ? `options: ${turn.options.join(" | ")}` : "", turn.aggregate === "share" ? "" : `counted as ${turn.aggregate}`];
  const parts = [make("h2", `Turn ${at}: ${turn.task} (${type})`), make("p.note", plan.filter(Boolean).join("; "))];
  parts.push(pair(wordings(turn), ask(at, "implicitness")));
  if (turn.antecedents.length) parts.push(antecedents(turn));
  if (body.bare) parts.push(make("p.note", "For evaluation: gold and rubric are not on this page."));
  if (turn.gold) parts.push(...gold(turn.gold, at, ask));
  if (turn.items.length) {
    parts.push(make("h3", "Rubric"), ...turn.items.map((item) => pair(itemOf(item), ask(at, "item", item.id))));
  }
  return make("section.turn", parts);
}

// What is shown, and beside it what is asked about it.
function pair(shown, control) {
  return control ? make("div.judged", make("div", shown), control) : make("div", shown);
}

function wordings(turn) {
  const rows = ["en", "zh"].filter((language) => turn.query[language]).map((language) => {
    const { explicit, implicit } = turn.query[language];
    const cell = (words, attributes) => make("td", words === null ? make("span.note", "none") : prose(words, { lang: language }), attributes);
    const head = make("th", NAMES[language], { scope: "row" });
    return explicit === implicit ? make("tr", head, cell(explicit, { colspan: "2" })) : make("tr", head, cell(explicit), cell(implicit));
  });
  return make("div.scroll", { tabindex: "0", role: "group", "aria-label": "The question in each wording" },
    make("table.wordings", make("caption", "The question"),
      make("thead", make("tr", ["", "explicit", "implicit"].map((name) => (name ? make("th", name, { scope: "col" }) : make("td"))))), make("tbody", rows)));
}

function antecedents(turn) {
  const told = turn.antecedents.map((one) => {
    const names = one.names ? [one.names.en, one.names.zh].filter(Boolean).join(" / ") : "";
    return make("li", make("code", one.entity), names ? ` (${names})` : "", `, named in turn ${one.turn}`);
  });
  return make("div", make("p.who", "Left out of the implicit form"), make("ul", told));
}

// -- what is right ----------------------------------------------------------------------------------------------------------

function gold(found, at, ask) {
  const parts = [make("h3", "Gold calls")];
  found.calls.forEach((call, place) => parts.push(pair(callOf(call), ask(at, "arguments", String(place)))));
  if (!found.calls.length) parts.push(make("p.note", "none"));
  if (found.branch) parts.push(branch(found.branch));
  parts.push(make("h3", "Gold answers"));
  for (const answer of found.answers) {
    const told = ["en", "zh"].filter((language) => answer[language] !== null);
    parts.push(make("div.beside", told.map((language) => make("div.said.answer", make("p.who", NAMES[language]), prose(answer[language], { lang: language })))));
  }
  return parts;
}

function callOf(call) {
  const { result } = call;
  const outcome = result.ok ? (result.wrote ? `wrote ${result.wrote}` : "ok") : `refused: ${result.error}`;
  const told = JSON.stringify(call.arguments);
  const summary = make("span", make("code", call.tool), " ", make("span.arguments", told.length > 160 ? `${told.slice(0, 160)}…` : told), " → ",
    make(result.ok ? "span" : "strong", outcome), call.role === "required" ? null : make("span.note", ` (${call.role})`));
  return fold(summary, () => make("div.call-in", make("p.who", "Arguments"), code(call.arguments), make("p.who", "Result"), resultOf(result.text, "en"),
    call.zh === null ? null : resultOf(call.zh, "zh"), result.facts.length ? make("p.note", `tells of: ${result.facts.join(", ")}`) : null), call.tool !== "prepare_to_answer");
}

function resultOf(text, language) {
  const table = tableOf(text);
  if (table) return tables([table], {}, new Map());
  return parsed(text) ? verbatim(text) : prose(text, { lang: language });
}

function branch(found) {
  const other = found.other.map((call) => make("li", make("code", call.tool), " ", JSON.stringify(call.arguments)));
  return make("div", make("p", `Adaptive: calls ${found.taken.map((place) => place + 1).join(", ")} follow because ${found.on} was ${found.held ? "" : "not "}${found.test}; otherwise:`), make("ul", other));
}

function itemOf(item) {
  const words = ["en", "zh"].filter((language) => item.text[language]).map((language) => prose(item.text[language], { lang: language }));
  return make("div", make("p", make("code", item.id), item.safety ? make("span.badge.failed", "safety") : null,
    item.requires.length ? make("span.note", ` requires ${item.requires.join(", ")}`) : null), words, code(item.check));
}

// -- the patient ------------------------------------------------------------------------------------------------------------

function patientOf(body) {
  const { facts: known, replies } = body.interview;
  const rows = known.map((one) => make("tr", make("th", make("code", one.id), one.withheld ? make("small", "withheld until its drug is named") : null, { scope: "row" }),
    make("td.short", one.kind), make("td", prose([one.polarity === "absent" ? `${one.concept} (absent)` : one.concept, one.drug && one.drug !== one.concept ? `drug: ${one.drug}` : "", one.state || "", one.reason ? `because: ${one.reason}` : ""].filter(Boolean).join("; "))),
    make("td", prose(Object.entries(one.attributes).map(([name, value]) => `${name}: ${value}`).join("\n"))), make("td", one.source)));
  const said = () => dataTable("Recorded replies", ["asked by", "about", "after", "English", "中文"], replies.map((one) => make("tr",
    make("th", one.tool, { scope: "row" }), make("td", one.fact === null ? "in general" : one.fact), make("td", one.after.join(", ")),
    make("td", prose(one.text.en ?? "", { lang: "en" })), make("td", prose(one.text.zh ?? "", { lang: "zh" })))));
  return make("section.turn", make("h2", "The patient"), factList(Object.entries(body.persona)),
    rows.length ? dataTable("What the patient knows", ["fact", "kind", "what", "more", "source"], rows) : make("p.note", "nothing to be asked"),
    replies.length ? fold(`${replies.length} recorded replies`, said) : null);
}
