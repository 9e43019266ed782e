"""The curves of the sensitivity figure, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 240, 190, 34, 26, 10, 34  # size and margins of a panel
COLOURS = ("#2a6f97", "#c1440e", "#4d7c0f")

Curves = Mapping[str, Sequence[tuple[float, float]]]  # by name: points (value, percent)


def panels(rows: Sequence[Sequence[tuple[str, Curves]]]) -> str:
    """Rows of panels, each with a title and up to three curves between 0 and 100 percent."""
    columns = max(map(len, rows))
    size = f'width="{columns * WIDTH}" height="{len(rows) * HEIGHT + 20}"'
    box = f'viewBox="0 0 {columns * WIDTH} {len(rows) * HEIGHT + 20}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="sans-serif" font-size="10">']
    parts.append('<rect width="100%" height="100%" fill="#fff"/>')
    names = list(next(curves for row in rows for _, curves in row))
    for number, name in enumerate(names):
        x = LEFT + 110 * number
        parts.append(f'<path d="M{x} 10 h18" stroke="{COLOURS[number]}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 24}" y="13">{name}</text>')
    for down, row in enumerate(rows):
        for across, (title, curves) in enumerate(row):
            parts.append(f'<g transform="translate({across * WIDTH} {down * HEIGHT + 20})">{_panel(title, curves)}</g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, curves: Curves) -> str:
    values = sorted({value for points in curves.values() for value, _ in points})
    low, high = values[0], values[-1]
    inner, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(value: float, percent: float) -> str:
        across = (value - low) / (high - low) if high > low else 0.5
        return f"{LEFT + across * inner:.1f},{TOP + (1 - percent / 100) * tall:.1f}"

    parts = [f'<text x="{LEFT}" y="{TOP - 8}" font-weight="bold">{title}</text>']
    for percent in (0, 50, 100):
        y = TOP + (1 - percent / 100) * tall
        parts.append(f'<path d="M{LEFT} {y:.1f} h{inner}" stroke="#ccc"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{percent}</text>')
    for value in values:
        x = at(value, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{value:g}</text>')
    for colour, points in zip(COLOURS, curves.values(), strict=False):
        line = " ".join(at(*point) for point in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        circles = (at(*point).split(",") for point in points)
        parts += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>' for x, y in circles]
    return "".join(parts)
