"use strict";
// The chart as it was known at the session's now: stays, orders and procedures in order of time, and plots.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = ["rect", "line", "polyline", "circle", "text"];
const LONG = 30; // events of a timeline that is shown at once

function minute(time) {
  return time === null ? "undated" : time.slice(0, 16).replace("T", " ");
}

function svg(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  return node;
}

function plot(drawing) {
  const name = drawing.unit ? `${drawing.name} (${drawing.unit})` : drawing.name;
  const picture = svg("svg", { viewBox: `0 0 ${drawing.width} ${drawing.height}`, role: "img", "aria-label": name, class: "series" });
  const values = [];
  for (const [tag, attributes, words] of drawing.shapes) {
    if (!SHAPES.includes(tag)) continue;
    const shape = svg(tag, attributes);
    if (tag === "text") shape.textContent = words;
    else if (words) {
      const title = svg("title", {});
      title.textContent = words;
      shape.append(title);
      values.push(words);
    }
    picture.append(shape);
  }
  const box = make("div.scroll", { tabindex: "0", role: "group", "aria-label": `Plot of ${name}` });
  box.append(picture);
  return make("div.drawn", make("h4", name), box, fold(`${values.length} values`, () => make("ul", values.map((one) => make("li", one)))));
}

function timelineOf(record, encounter) {
  const rows = record.events.map(([key, type, text, time, known]) => {
    const here = key === `Encounter/${encounter}`;
    return make(here ? "tr.here" : "tr", make("td.short", minute(time)), make("td.short", type),
      make("td.wide", here ? make("strong", "this stay: ") : null, prose(text)), make("td.short", known === null ? "" : `known ${minute(known)}`));
  });
  rows.push(make("tr.now", make("th.short", `▶ ${minute(record.now)}`, { scope: "row" }), make("td", "now", { colspan: "3" })));
  return dataTable(`${INDEX.timeline.join(", ")} as known at the session's now; nothing later is on this page`, ["time", "type", "what", "known later"], rows, { class: "scroll timeline" });
}

function recordOf(record, body, session) {
  const plots = body.plots.map((place) => plot(record.plots[place]));
  const more = body.more_plots ? make("p.note", `${body.more_plots} more series are touched and not drawn.`) : null;
  const others = record.others.map(([kind, count]) => `${count} ${kind}`).join(", ");
  return make("section.turn", make("h2", `Record of ${session.patient}`), record.patient ? make("p", record.patient) : null,
    fold(`Timeline: ${record.events.length} stays, orders and procedures`, () => timelineOf(record, body.encounter), record.events.length <= LONG),
    others ? make("p.note", `Known then, too: ${others}. wardround inspect shows all of it.`) : null,
    make("h3", "Series that the session touches"), plots.length ? plots : make("p.note", "none of two values or more"), more);
}
