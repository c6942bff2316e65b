"""Line charts as SVG, drawn here: no library is needed to see how a cost grows."""

import html
import math

import contenders

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 130, 40, 48
COLOURS = {contenders.OURS: "#d62728", contenders.PLAIN: "#333333", contenders.PROF: "#1f77b4",
           contenders.GPERFTOOLS: "#2ca02c", contenders.HEAPTRACK: "#9467bd", contenders.GLIBC: "#8c564b"}
FONT = "font-family='sans-serif' font-size='12'"


def _nice_step(span, steps=5):
    """A step of 1, 2 or 5 times a power of ten that divides `span` into about so many."""
    if span <= 0:
        return 1
    raw = span / steps
    power = 10 ** math.floor(math.log10(raw))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= raw)


def _number(value):
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _text(x, y, text, anchor="middle", more=""):
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {FONT} {more}>{html.escape(text)}</text>"


def _linear_ticks(low, high):
    step = _nice_step(max(high, 0) - min(low, 0))
    first = math.floor(min(low, 0) / step)
    last = max(math.ceil(max(high, 0) / step), first + 1)
    return [round(i * step, 9) for i in range(first, last + 1)]


def _log_ticks(low, high):
    """Powers of ten around them; when that is only one or two, 2 and 5 times them as well."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [m * 10.0 ** p for p in range(first, last + 1) for m in factors]
    below = max((t for t in ticks if t <= low), default=ticks[0])
    above = min((t for t in ticks if t >= high), default=ticks[-1])
    return [t for t in ticks if below <= t <= above]


class _Axes:
    """Where values are on the paper."""

    def __init__(self, curve):
        points = [point for of in curve.series.values() for point in of]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        self.x_place = math.log if curve.x_is_log else float
        self.y_place = math.log if curve.y_is_log else float
        self.low_x, self.high_x = self.x_place(min(xs)), self.x_place(max(xs))
        self.y_ticks = (_log_ticks if curve.y_is_log else _linear_ticks)(min(ys), max(ys))
        self.low_y, self.high_y = self.y_place(self.y_ticks[0]), self.y_place(self.y_ticks[-1])

    def x(self, value):
        share = (self.x_place(value) - self.low_x) / ((self.high_x - self.low_x) or 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        share = (self.y_place(value) - self.low_y) / ((self.high_y - self.low_y) or 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _frame(curve, axes):
    parts = [_text(LEFT, 18, curve.title, "start", "font-weight='bold'"), _text(LEFT, 33, curve.y_label, "start"),
             _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, curve.x_label)]
    for tick in axes.y_ticks:
        y = axes.y(tick)
        parts.append(f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y:.1f}' y2='{y:.1f}' stroke='#ddd'/>")
        parts.append(_text(LEFT - 6, y + 4, _number(tick), "end"))
    for x in sorted({x for points in curve.series.values() for x, _ in points}):
        at = axes.x(x)
        parts.append(f"<line x1='{at:.1f}' x2='{at:.1f}' y1='{HEIGHT - BOTTOM}' y2='{HEIGHT - BOTTOM + 4}' "
                     "stroke='#333'/>")
        parts.append(_text(at, HEIGHT - BOTTOM + 17, curve.x_ticks.get(x, _number(x))))
    return parts


def _names(curve, axes):
    """Each line's name: right of the paper, at least a line of text below the one before; above the end of a line that
    ends earlier."""
    ends = sorted((axes.y(points[-1][1]), axes.x(points[-1][0]), name) for name, points in curve.series.items())
    beside = [(y, name) for y, x, name in ends if x > WIDTH - RIGHT - 1]
    parts = [_text(x, y - 8, name, "middle", f"fill='{COLOURS[name]}'") for y, x, name in ends
             if x <= WIDTH - RIGHT - 1]
    last = -math.inf
    for i, (y, name) in enumerate(beside):
        lowest = HEIGHT - BOTTOM - 14 * (len(beside) - 1 - i)
        last = max(min(y, lowest), last + 14)
        parts.append(_text(WIDTH - RIGHT + 8, last + 4, name, "start", f"fill='{COLOURS[name]}'"))
    return parts


def svg(curve):
    """The curve as the text of an SVG file."""
    axes = _Axes(curve)
    parts = _frame(curve, axes)
    for name, points in curve.series.items():
        places = [(f"{axes.x(x):.1f}", f"{axes.y(y):.1f}") for x, y in points]
        line = " ".join(f"{x},{y}" for x, y in places)
        parts.append(f"<polyline points='{line}' fill='none' stroke='{COLOURS[name]}' stroke-width='2'/>")
        parts += [f"<circle cx='{x}' cy='{y}' r='2.5' fill='{COLOURS[name]}'/>" for x, y in places]
    parts += _names(curve, axes)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
            f"viewBox='0 0 {WIDTH} {HEIGHT}'>\n<rect width='100%' height='100%' fill='white'/>\n"
            + "\n".join(parts) + "\n</svg>\n")
