"use strict";
// The list of episodes, its filters, and which of both is shown.

const PAGE = 200;
const TITLE = document.title;
const MARKS = { passed: "✓", failed: "✗", ungraded: "?" };
const values = (pick) => [...new Set(EPISODES.flatMap(pick).filter((one) => one !== null && one !== ""))].map(String).sort();
// [name, label, choices, how an episode, or one of its turns, meets the choice]
const BY_EPISODE = [
  ["run", "Run", INDEX.runs.length > 1 ? INDEX.runs : [], (one, wanted) => INDEX.runs[one.run] === wanted],
  ...["agent", "language", "phrasing", "scenario", "tier", "outcome"].map((name) => [
    name, name[0].toUpperCase() + name.slice(1), values((one) => one[name]), (one, wanted) => one[name] === wanted,
  ]),
];
const BY_TURN = [
  ["task", "Task of a turn", values((one) => one.tasks), (one, turn, wanted) => one.tasks[turn] === wanted],
  ["type", "Type of a turn", ["explicit only", ...values((one) => one.types)],
    (one, turn, wanted) => (one.types[turn] || "explicit only") === wanted],
  ["result", "Result of a turn", ["passed", "failed", "ungraded", "with an unreadable item"],
    (one, turn, wanted) => (wanted === "with an unreadable item" ? one.unreadable[turn] > 0
      : standing(one.rewards[turn], one.ungraded[turn]) === wanted)],
  ["failure", "Why a turn failed", values((one) => one.failures), (one, turn, wanted) => one.failures[turn] === wanted],
];
const ORDERS = {
  "by name": (a, b) => a.at - b.at,
  "lowest score first": (a, b) => a.score - b.score || a.at - b.at,
  "highest score first": (a, b) => b.score - a.score || a.at - b.at,
};
const chosen = new Map();
let found = EPISODES;
let shown = PAGE;
let before = null; // what had the focus when an episode was opened

function control(name, label, choices, first) {
  const select = make("select", { id: `f-${name}` }, make("option", first, { value: "" }),
    choices.map((one) => make("option", one, { value: one })));
  select.addEventListener("change", () => {
    chosen.set(name, select.value);
    filter();
  });
  return make("p", make("label", label, { for: `f-${name}` }), select);
}

function controls() {
  const search = make("input", { id: "f-search", type: "search", autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => {
    chosen.set("search", search.value.trim().toLowerCase());
    filter();
  });
  const offered = [...BY_EPISODE, ...BY_TURN].filter(([, , choices]) => choices.length > 1 || (choices.length && choices[0] !== "explicit only"));
  const order = control("order", "Order", Object.keys(ORDERS).slice(1), "by name");
  const clear = make("button", "Clear all filters", { type: "button" });
  clear.addEventListener("click", () => {
    chosen.clear();
    document.querySelectorAll("#filters select, #filters input").forEach((one) => { one.value = ""; });
    filter();
  });
  return make("form", { id: "filters", "aria-label": "Filter episodes" },
    make("p", make("label", "Session or key holds", { for: "f-search" }), search),
    offered.map(([name, label, choices]) => control(name, label, choices, "any")), order, make("p", clear));
}

function meets(one) {
  const search = chosen.get("search");
  if (search && !one.key.toLowerCase().includes(search)) return false;
  if (!BY_EPISODE.every(([name, , , test]) => !chosen.get(name) || test(one, chosen.get(name)))) return false;
  const asked = BY_TURN.filter(([name]) => chosen.get(name));
  // one and the same turn must meet all that is asked of a turn
  return !asked.length || one.tasks.some((_, turn) => asked.every(([name, , , test]) => test(one, turn, chosen.get(name))));
}

function filter() {
  found = EPISODES.filter(meets).sort(ORDERS[chosen.get("order") || "by name"]);
  shown = PAGE;
  list();
}

function row(one) {
  const turns = one.rewards.map((reward, turn) => {
    const word = standing(reward, one.ungraded[turn]);
    return make(`td.n.${word}`, `${MARKS[word]} ${figure(reward, 2)}`, make("span.spoken", ` ${word}`));
  });
  return make("tr",
    make("th", make("a", one.session, { href: address(one) }), { scope: "row" }),
    INDEX.runs.length > 1 ? make("td", INDEX.runs[one.run]) : null,
    make("td", one.agent), make("td", one.phrasing), make("td", one.language), make("td.n", one.trial),
    make("td", one.scenario), make("td", one.tier), make("td", one.outcome), make("td.n", figure(one.score)), turns);
}

function list() {
  const most = EPISODES.reduce((top, one) => Math.max(top, one.rewards.length), 0);
  const columns = ["session", ...(INDEX.runs.length > 1 ? ["run"] : []), "agent", "phrasing", "language", "trial",
    "scenario", "tier", "outcome", "score", ...Array.from({ length: most }, (_, turn) => `turn ${turn}`)];
  const told = `${found.length.toLocaleString("en")} of ${EPISODES.length.toLocaleString("en")} episodes`;
  document.getElementById("count").textContent = told;
  const rows = found.slice(0, shown).map(row);
  const box = document.getElementById("list");
  box.replaceChildren(dataTable("Episodes; ✓ reward of 0.60 or more, ✗ less, ? ungraded", columns, rows));
  const grow = () => {
    shown += PAGE;
    list();
  };
  if (found.length > shown) box.append(moreButton(box, found.length - shown, PAGE, grow));
}

function steps(episode) {
  const at = found.findIndex((one) => one.at === episode.at);
  const link = (one, label) => (one ? make("a", label, { href: address(one) }) : make("span.note", label));
  return make("nav", { "aria-label": "Episodes" }, make("a", "← All episodes", { href: "#episodes" }), " ",
    link(at > 0 ? found[at - 1] : null, "Previous"), " ", link(at >= 0 ? found[at + 1] : null, "Next"),
    at >= 0 ? make("span.note", ` ${at + 1} of ${found.length}`) : null);
}

async function show(episode) {
  const article = document.getElementById("episode");
  const two = INDEX.partners && INDEX.partners[episode.at] !== undefined && INDEX.partners[episode.at] !== null;
  const beside = two ? EPISODES[INDEX.partners[episode.at]] : null;
  const pair = beside ? [episode, beside].sort((a, b) => a.run - b.run) : [episode];
  let parts;
  try {
    parts = await Promise.all(pair.map(async (one) => played(one, await episodeBody(one), await sessionBody(one))));
  } catch (fault) {
    parts = [make("p.fault", `This episode cannot be shown: ${fault.message}`)];
  }
  if (byAddress(location.hash) !== episode) return; // another was opened meanwhile
  const head = make("h1", `Session ${episode.session}`, { tabindex: "-1" });
  // two runs: the same turn side by side
  const rows = Array.isArray(parts[0]) ? parts[0].map((_, at) => make(pair.length > 1 ? "div.beside" : "div", parts.map((one) => one[at]))) : parts;
  article.replaceChildren(steps(episode), head, ...rows);
  document.title = `Session ${episode.session}: ${TITLE}`;
  turnTo(true);
  head.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function turnTo(one) {
  document.getElementById("episode").hidden = !one;
  for (const id of ["overview", "episodes"]) document.getElementById(id).hidden = one;
  document.querySelector("body > header").hidden = one;
}

function follow() {
  const episode = byAddress(location.hash);
  if (episode) {
    if (document.getElementById("episode").hidden) before = address(episode);
    show(episode);
    return;
  }
  const was = !document.getElementById("episode").hidden;
  document.title = TITLE;
  turnTo(false);
  const told = decodeURIComponentSafely(location.hash.slice(1));
  if (told.includes("/")) document.getElementById("count").textContent = `No episode of this page is called ${told}`;
  if (!was) return;
  const back = [...document.querySelectorAll("#list tbody a")].find((one) => one.getAttribute("href") === before);
  if (back) back.focus();
  else document.getElementById(told || "episodes")?.scrollIntoView();
}

function decodeURIComponentSafely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

document.getElementById("browser").append(controls(), make("p", { id: "count", role: "status" }), make("div", { id: "list" }));
filter();
addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.ready = "yes";
