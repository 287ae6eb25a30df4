"""One self-contained page of a patient: stays, series as SVG plots, and the timeline. Everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .drawing import Shape, draw_series, minute
from .inspection import Event, printable
from .plotting import Series

_STYLE = """
body{font:14px/1.4 system-ui,sans-serif;margin:1.5em auto;max-width:1000px;color:#222}
h1{font-size:1.4em}h2{font-size:1.15em;margin-top:1.6em}h3{font-size:1em;margin:1em 0 .2em}
svg{width:100%;height:auto;background:#fafafa}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.15em .5em;text-align:left;vertical-align:top}
.band{fill:#dff0df}.line{fill:none;stroke:#456;stroke-width:1.2}.in{fill:#345}.out{fill:#c33}
.stay{stroke:#bbb;stroke-dasharray:3 3}.drug{stroke:#86a;stroke-width:3}text{font-size:11px;fill:#444}
.truth{background:#fff4d6;border-left:6px solid #e0a800;padding:.3em .8em}.dim{color:#777}pre{white-space:pre-wrap}
"""


def plot_page(
    title: str, facts: Sequence[str], series: Sequence[Series], events: Sequence[Event],
    truth: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:  # fmt: skip
    """Return the page.

    Args:
        title: The patient.
        facts: Lines under the title.
        series: What is plotted.
        events: The timeline.
        truth: Headed lists of what is behind the chart; shown apart and marked.
    """
    parts = [
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body><h1>{_text(title)}</h1>",
        *(f"<p class=\"dim\">{_text(fact)}</p>" for fact in facts),
        *_truth(truth),
        "<h2>Plots</h2>",
        *map(_plot, series),
        *([] if series else ["<p class=\"dim\">No series of three values or more.</p>"]),
        "<h2>Timeline</h2><table><tr><th>Time</th><th>Type</th><th></th><th>Known</th></tr>",
        *map(_event, events),
        "</table></body></html>\n",
    ]  # fmt: skip
    return "\n".join(parts)


def _text(text: str) -> str:
    return escape(printable(text))


def _truth(truth: Sequence[tuple[str, Sequence[str]]]) -> Iterable[str]:
    if truth:
        yield '<div class="truth"><h2>Truth behind the chart (no tool shows this)</h2>'
        for head, lines in truth:
            yield f"<h3>{_text(head)}</h3><ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"
        yield "</div>"


def _event(event: Event) -> str:
    data = event.as_dict()
    time, known = minute(data["time"]), minute(data["known"])
    return (
        f"<tr><td>{time}</td><td>{_text(event.type)}</td><td>{_text(event.text)}</td>"
        f'<td class="dim">{known if known != time else ""}</td></tr>'
    )


def _plot(series: Series) -> str:
    drawing = draw_series(series)
    unit = f" ({_text(drawing.unit)})" if drawing.unit else ""
    return (
        f'<h3>{_text(drawing.name)}{unit}</h3><svg viewBox="0 0 {drawing.width} {drawing.height}" role="img" '
        f'aria-label="{_text(drawing.name)}">{"".join(map(_shape, drawing.shapes))}</svg>'
    )


def _shape(shape: Shape) -> str:
    told = " ".join(f'{name}="{value}"' for name, value in shape.attributes.items())
    if shape.tag == "text":
        return f"<text {told}>{_text(shape.words)}</text>"
    if shape.words:
        return f"<{shape.tag} {told}><title>{_text(shape.words)}</title></{shape.tag}>"
    return f"<{shape.tag} {told}/>"
