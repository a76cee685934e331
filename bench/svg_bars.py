"""Horizontal bars as SVG: readable on light and dark pages, with no font or script from elsewhere.

    Chart("Work-off", "jobs/s, more is better").section("PostgreSQL", rows).svg()

A row is a label with one or two bars; the bar's kind decides its colour.
"""

import math
from dataclasses import dataclass, field
from html import escape

WIDTH = 860
LABEL_WIDTH = 290
VALUE_WIDTH = 126
ROW_GAP = 8
BAR_HEIGHT = 13
BAR_GAP = 2
TOP = 84

# Both themes keep text at a contrast of 4.5 or more. An image cannot see the theme of its page, only that of the
# system.
STYLE = """
  .page { fill: #ffffff; stroke: #d8dee4 }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
  .title { font-size: 18px; font-weight: 600 }
  .section { font-weight: 600 }
  .quiet { fill: #59636e; font-size: 12px }
  .value { font-size: 12px; font-variant-numeric: tabular-nums }
  .ours-label { font-weight: 700 }
  .grid { stroke: #d8dee4; stroke-width: 1 }
  .ours { fill: #d9480f } .fast { fill: #3b6fb6 } .default { fill: #7fb3a6 } .raw { fill: #8a9299 }
  .second { opacity: .7 }
  .mark { stroke: #1f2328; stroke-width: 1.5; fill: none }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #30363d }
    text { fill: #e6edf3 }
    .quiet { fill: #9aa4af }
    .grid { stroke: #262c34 }
    .ours { fill: #ff8a3d } .fast { fill: #5b94e0 } .default { fill: #3f7268 } .raw { fill: #6e7681 }
    .mark { stroke: #e6edf3 }
  }
"""

LEGEND = [("ours", "leasehold"), ("fast", "fastest documented"), ("default", "as it comes"), ("raw", "raw SQL")]


@dataclass
class Bar:
    value: float
    text: str
    mark: float | None = None  # a whisker further out, such as a 95th percentile


@dataclass
class Row:
    label: str
    kind: str
    bars: list[Bar]


@dataclass
class Chart:
    title: str
    subtitle: str
    logarithmic: bool = False
    sections: list[tuple[str, list[Row]]] = field(default_factory=list)

    def section(self, name: str, rows: list[Row]) -> "Chart":
        if rows:
            self.sections.append((name, rows))
        return self

    def svg(self) -> str:
        body, height = self._body()
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(self.title)}">',
            f"<style>{STYLE}</style>",
            f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
            f'<text class="title" x="24" y="34">{escape(self.title)}</text>',
            f'<text class="quiet" x="24" y="54">{escape(self.subtitle)}</text>',
        ]
        return "\n".join(head + self._legend() + body + ["</svg>", ""])

    def _legend(self) -> list[str]:
        used = {row.kind for _, rows in self.sections for row in rows}
        parts, x = [], WIDTH - 24
        for kind, name in reversed([entry for entry in LEGEND if entry[0] in used]):
            x -= 7 * len(name) + 8
            parts.append(f'<text class="quiet" x="{x}" y="33">{escape(name)}</text>')
            x -= 18
            parts.append(f'<rect class="{kind}" x="{x}" y="22" width="12" height="12" rx="2"/>')
            x -= 10
        return parts

    def _body(self) -> tuple[list[str], int]:
        place = self._scale()
        parts: list[str] = []
        y = TOP
        for name, rows in self.sections:
            parts.append(f'<text class="section" x="24" y="{y + 4}">{escape(name)}</text>')
            parts.append(f'<line class="grid" x1="24" x2="{WIDTH - 24}" y1="{y + 11}" y2="{y + 11}"/>')
            y += 22
            for row in rows:
                parts += self._row(row, y, place)
                y += len(row.bars) * (BAR_HEIGHT + BAR_GAP) + ROW_GAP
            y += 18
        return parts, y

    def _row(self, row: Row, y: int, place) -> list[str]:
        height = len(row.bars) * (BAR_HEIGHT + BAR_GAP) - BAR_GAP
        weight = ' class="ours-label"' if row.kind == "ours" else ""
        base = y + height / 2 + 4.5
        parts = [f'<text{weight} x="{LABEL_WIDTH}" y="{base:.1f}" text-anchor="end">{escape(row.label)}</text>']
        for number, bar in enumerate(row.bars):
            top = y + number * (BAR_HEIGHT + BAR_GAP)
            end = place(bar.value)
            second = " second" if number else ""
            parts.append(
                f'<rect class="{row.kind}{second}" x="{LABEL_WIDTH + 10}" y="{top}" '
                f'width="{max(1.0, end - LABEL_WIDTH - 10):.1f}" height="{BAR_HEIGHT}" rx="2"/>'
            )
            if bar.mark is not None:
                start, end = end, place(bar.mark)
                line = f"M{start:.1f} {top + BAR_HEIGHT / 2}H{end:.1f}"
                stop = f"M{end:.1f} {top + 2}V{top + BAR_HEIGHT - 2}"
                parts.append(f'<path class="mark" d="{line}{stop}"/>')
            parts.append(f'<text class="value" x="{end + 6:.1f}" y="{top + 10.5}">{escape(bar.text)}</text>')
        return parts

    def _scale(self):
        """From a value to its place on the page."""
        bars = [bar for _, rows in self.sections for row in rows for bar in row.bars]
        values = [value for bar in bars for value in (bar.value, bar.mark or bar.value)]
        start, space = LABEL_WIDTH + 10, WIDTH - LABEL_WIDTH - 10 - VALUE_WIDTH
        if not self.logarithmic:
            return lambda value: start + space * value / max(values)
        low = math.log10(min(values) / 2)
        high = math.log10(max(values))
        return lambda value: start + space * (math.log10(value) - low) / (high - low)
