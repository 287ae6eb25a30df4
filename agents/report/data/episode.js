"use strict";
// One episode, as a list of parts: what was asked, looked up, written and said, and what each rubric item rests on.

const LONG_ANSWER = 20000;

function played(episode, body, session) {
  return [facts(episode, body, session), ...episode.tasks.map((_, at) => turnOf(episode, body, session, at))];
}

function facts(episode, body, session) {
  const told = [
    ["Agent", episode.agent], ["Run", INDEX.runs[episode.run]], ["Wording", episode.phrasing], ["Language", episode.language],
    ["Trial", episode.trial], ["Scenario, tier", `${episode.scenario}, ${episode.tier}`],
    ["Outcome", episode.outcome], ["Score", figure(episode.score)],
    ["Patient", session && session.patient], ["Now", session && session.anchor], ["Error", body.error],
    ["Used", body.usage && Object.keys(body.usage).length ? JSON.stringify(body.usage) : ""],
    ["Key", episode.key], ["Trajectory hash", body.hash],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl.facts", told.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
}

function turnOf(episode, body, session, at) {
  const score = body.turns[at] || null;
  const told = session ? session.turns[at] : null;
  const type = episode.types[at] ? `${episode.types[at]}, played ${body.phrasing[at]}` : "explicit only";
  const word = score ? standing(score.reward_valid ? score.reward : null, episode.ungraded[at]) : "not reached";
  const reward = score && score.reward_valid ? figure(score.reward) : "";
  const head = make("h2", `Turn ${at}: ${episode.tasks[at]} (${type}) `,
    make(`span.badge.${word.replace(" ", "-")}`, `${MARKS[word] || "–"} ${word} ${reward}`));
  const parts = [head];
  if (episode.failures[at]) parts.push(make("p", "Failed because: ", make("strong", episode.failures[at])));
  if (INDEX.whole) parts.push(...dialogue(episode, body, session, at, score));
  else parts.push(make("p", `${body.calls[at]} calls`));
  if (score) parts.push(verdicts(episode, score, told, session));
  if (score && score.notes && score.notes.length) {
    parts.push(make("p", "Rules beyond single items:"), make("ul", score.notes.map((note) => make("li", note))));
  }
  if (score && !score.reward_valid) {
    parts.push(make("p", `Ungraded: the reward lies between ${figure(score.bounds[0])} and ${figure(score.bounds[1])}.`));
  }
  if (told && told.gold) parts.push(fold("Gold: one way to do it right", () => gold(told.gold, episode.language)));
  return make("section.turn", parts);
}

// -- the dialogue -----------------------------------------------------------------------------------------------------

function dialogue(episode, body, session, at, score) {
  const rests = new Map(); // key of a resource or fact -> numbers of the items that rest on it
  (score ? score.verdicts : []).forEach((verdict, place) => verdict.resources.forEach((key) => {
    rests.set(key, [...(rests.get(key) || []), place + 1]);
  }));
  return body.events.filter((event) => event.turn === at).map((event) => {
    if (event.event === "query") return said("Physician", prose(event.text, { lang: episode.language }));
    if (event.event === "call") return call(event, episode, session, rests);
    if (event.event === "mistake") {
      return said("Neither call nor answer", prose(event.action), make("p", "came back: "), prose(event.text));
    }
    if (event.event === "door") return door(event, session, rests);
    const box = answer(event.text, score ? score.verdicts : []);
    box.lang = episode.language;
    return said(event.forced ? "Answer (none: actions ran out)" : "Answer", box);
  });
}

function said(who, ...inside) {
  return make(`div.said.${who.split(" ")[0].toLowerCase()}`, make("p.who", who), inside);
}

function call(event, episode, session, rests) {
  const wrote = event.created || event.updated || event.file;
  const keys = [...(event.resources || []), ...(event.facts || []).map((fact) => `fact/${fact}`), ...(wrote ? [wrote] : [])];
  const resting = keys.filter((key) => rests.has(key));
  const outcome = event.ok ? (wrote ? `wrote ${wrote}` : "ok") : `refused: ${event.error}`;
  const summary = make("span", make("code", event.tool), " ", make("span.arguments", brief(event.arguments)), " → ",
    make(event.ok ? "span" : "strong", outcome), resting.length ? make("span.evidence", ` ${EVIDENCE} evidence`) : null);
  const text = typeof event.text === "number" ? session.texts[event.text] : event.text; // long results are kept once
  const build = () => make("div.call-in",
    event.note ? said("Note of the agent", prose(event.note)) : null,
    make("p.who", "Arguments"), source(event.arguments),
    resting.length ? make("ul.evidence", resting.map((key) => make("li", `${EVIDENCE} ${key}: item ${rests.get(key).join(", ")} rests on it`))) : null,
    result({ ...event, text }, episode, session, rests));
  return fold(summary, build, resting.length > 0 || Boolean(wrote));
}

function brief(value) {
  const told = typeof value === "string" ? value : JSON.stringify(value);
  return told.length > 160 ? `${told.slice(0, 160)}…` : told;
}

// The result in each view there is: the table of the compact view, the FHIR resources, and the text as it was sent.
function result(event, episode, session, rests) {
  const views = [];
  const compact = compactOf(event, session, INDEX.views[episode.run]);
  if (compact) views.push(["Table (compact view)", () => tables(compact, event, rests)]);
  const keys = (event.resources || []).filter((key) => session.resources[key]);
  if (keys.length) views.push(["FHIR resources", () => make("div", keys.map((key) => resource(key, session, rests)))]);
  views.push(["As recorded", () => prose(event.text, { class: "prose raw" })]);
  const box = make("div");
  const buttons = views.map(([name, build], place) => {
    const button = make("button", name, { type: "button", "aria-pressed": "false" });
    button.addEventListener("click", () => {
      buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
      box.replaceChildren(build());
    });
    return button;
  });
  buttons[0].click();
  return make("div.result", make("div.views", { role: "group", "aria-label": "Views of the result" }, make("span.who", "Result "), buttons), box);
}

// Tables as [{columns, rows, more}]: as the tool sent them, or made from the resources of a run whose view was FHIR.
function compactOf(event, session, view) {
  const sent = tableOf(event.text);
  if (sent) return [sent];
  if (!event.resources || view !== "fhir") return null;
  const kinds = new Map();
  for (const key of event.resources) {
    const held = session.resources[key];
    if (!held) continue;
    const kind = key.split("/")[0];
    if (!kinds.has(kind)) kinds.set(kind, { columns: held[2], rows: [] });
    kinds.get(kind).rows.push(exactly(held[1]));
  }
  return kinds.size ? [...kinds.values()] : null;
}

function resource(key, session, rests) {
  const held = session.resources[key];
  const told = rests.has(key) ? `${key} ${EVIDENCE} item ${rests.get(key).join(", ")} rests on it` : key;
  return fold(told, () => verbatim(held[0]), rests.has(key));
}

function door(event, session, rests) {
  const written = event.writes.map((write) => fold(`${write.op} ${write.key}`, () => prose(write.body, { class: "prose raw" })));
  const seen = event.resources.map((key) => (session.resources[key] ? resource(key, session, rests) : make("p", key)));
  return said("By another door", make("p", `${seen.length} resources shown, ${written.length} written`), seen, written);
}

// -- the answer and its verdicts --------------------------------------------------------------------------------------

// Offsets of spans count code points; strings here count UTF-16 units.
function places(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => offset;
  const starts = [];
  let at = 0;
  for (const mark of text) {
    starts.push(at);
    at += mark.length;
  }
  return (offset) => (offset < starts.length ? starts[offset] : text.length);
}

function answer(text, found) {
  const place = places(text);
  const spans = found.flatMap((verdict, at) => verdict.spans.map((span) => ({
    from: place(span.start), to: place(span.end), item: at + 1, passed: verdict.passed,
  })));
  const fill = (box, end) => {
    const edges = [...new Set([0, end, ...spans.flatMap((span) => [span.from, span.to])])].filter((one) => one <= end).sort((a, b) => a - b);
    edges.slice(0, -1).forEach((from, at) => {
      const to = edges[at + 1];
      const over = spans.filter((span) => span.from <= from && span.to >= to);
      const piece = text.slice(from, to);
      if (!over.length) {
        put(box, piece);
        return;
      }
      const mark = make(over.every((span) => span.passed) ? "mark.ok" : "mark.bad", piece);
      mark.dataset.items = over.map((span) => span.item).join(" ");
      const ends = over.filter((span) => span.to === to).map((span) => span.item);
      box.append(mark);
      if (ends.length) box.append(make("sup", ends.join(","), { title: "items that rest on these words" }));
    });
    return box;
  };
  const box = make("div.prose", { dir: "auto" });
  if (text === "") return put(box, "(nothing)");
  if (text.length <= LONG_ANSWER) return fill(box, text.length);
  const more = make("button", `… show all ${text.length.toLocaleString("en")} characters`, { type: "button" });
  more.addEventListener("click", () => {
    box.replaceChildren();
    fill(box, text.length);
  });
  fill(box, LONG_ANSWER).append(more);
  return box;
}

function verdictWord(verdict) {
  if (verdict.ungraded) return "? ungraded";
  if (verdict.unreadable) return "✗ unreadable";
  return verdict.passed ? "✓ passed" : "✗ failed";
}

function verdicts(episode, score, told, session) {
  const rows = score.verdicts.map((verdict, place) => {
    const item = told ? told.items[verdict.item] : null;
    const words = item ? item.text[episode.language] || item.text.en || item.text.zh : "";
    const state = verdict.ungraded ? "ungraded" : verdict.passed ? "passed" : "failed";
    const cells = [
      make("td.n", place + 1),
      make("th", make("code", verdict.item), words ? make("div.words", words, { dir: "auto" }) : null,
        item && item.safety ? make("small", "safety item") : null, verdict.guard ? make("small", "guard") : null, { scope: "row" }),
      make(`td.short.${state}`, verdictWord(verdict)),
    ];
    if (INDEX.whole) cells.push(make("td.wide", prose(verdict.reason)), make("td.wide", restsOn(verdict, session)));
    const row = make("tr", cells);
    for (const [event, on] of [["mouseenter", true], ["mouseleave", false]]) {
      row.addEventListener(event, () => point(row, place + 1, on));
    }
    return row;
  });
  const columns = ["#", "item", "verdict", ...(INDEX.whole ? ["why", "rests on"] : [])];
  return dataTable(`Rubric: reward ${score.reward_valid ? figure(score.reward) : "none"}, plain share of items ${figure(score.r_plain)}`, columns, rows);
}

function point(row, item, on) {
  row.closest(".turn").querySelectorAll("mark").forEach((mark) => {
    mark.classList.toggle("pointed", on && mark.dataset.items.split(" ").includes(String(item)));
  });
}

function restsOn(verdict, session) {
  const words = verdict.spans.map((span) => prose(`“${span.text}”`));
  const keys = verdict.resources.map((key) => (session && session.resources[key] ? resource(key, session, new Map()) : make("p", `${EVIDENCE} ${key}`)));
  return words.length + keys.length ? [...words, ...keys] : [make("span.note", "nothing said or read")];
}

function gold(found, language) {
  const calls = found.calls.map((one) => make("li", make("code", one.tool), " ", JSON.stringify(one.arguments), one.role === "required" ? "" : ` (${one.role})`));
  const answers = found.answers.map((one) => prose(one[language] || one.en || one.zh));
  return make("div", make("ul", calls), answers);
}
