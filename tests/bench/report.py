"""What was measured, as Markdown and as JSON."""

import dataclasses

import contenders

MISSING = "not installed"


@dataclasses.dataclass
class Row:
    """One line of the table of what must be reached: a number that is to be at most `must`."""
    what: str
    unit: str
    must: float
    values: dict  # contender -> number, in `unit`; heapprof's is judged
    loose: float = None  # what --check asks instead of `must`: for a machine that is slow or busy. None: `must` itself
    must_text: str = ""
    note: str = ""
    digits: int = 1

    @property
    def ours(self):
        return self.values.get(contenders.OURS)

    def verdict(self):
        if self.ours is None:
            return "not measured"
        # As printed: 1.04 is not more than 1.0.
        missed_by = round(self.ours - self.must, self.digits)
        return "met" if missed_by <= 0 else f"**missed by {missed_by:.{self.digits}f} {self.unit}**"

    def fails(self):
        return self.ours is not None and self.ours > (self.must if self.loose is None else self.loose)

    def cell(self, name):
        value = self.values.get(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else f"{value:.{self.digits}f}"


@dataclasses.dataclass
class Table:
    """Figures in full: one line a first column, one column a contender or a figure."""
    title: str
    header: list
    lines: list
    note: str = ""


@dataclasses.dataclass
class Curve:
    """How a cost grows."""
    name: str  # its file's
    title: str
    x_label: str
    y_label: str
    series: dict  # name -> [(x, y)]
    x_is_log: bool = False
    y_is_log: bool = False
    x_ticks: dict = dataclasses.field(default_factory=dict)  # x -> its text

    def table(self):
        xs = sorted({x for points in self.series.values() for x, _ in points})
        lines = []
        for x in xs:
            ys = [dict(points).get(x) for points in self.series.values()]
            lines.append([self.x_ticks.get(x, f"{x:,.0f}"), *("" if y is None else f"{y:,.4g}" if y < 1000
                                                             else f"{y:,.0f}" for y in ys)])
        return Table(f"{self.title} ({self.y_label})", [self.x_label, *self.series], lines)


def markdown_table(header, lines):
    text = ["| " + " | ".join(str(cell) for cell in line) + " |" for line in (header, *lines)]
    text.insert(1, "|---" * len(header) + "|")
    return "\n".join(text) + "\n"


def musts(rows):
    peers = [name for name in contenders.ALL[1:] if any(row.cell(name) for row in rows)]
    lines = [[row.what, row.must_text or f"{row.must:g} {row.unit}", f"{row.cell(contenders.OURS)} {row.unit}",
              row.verdict(), *(row.cell(name) for name in peers)] for row in rows]
    return markdown_table(["", "at most", "heapprof", "verdict", *peers], lines)


def notes(rows):
    return "".join(f"- {row.what}: {row.note}\n" for row in rows if row.note)


def machine_text(machine):
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (f"{machine['date']}, `tests/bench/run.py`, medians of {machine['rounds']} rounds (curves: of 3). "
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']:.0f} GiB; {machine['system']}, "
            f"kernel {machine['kernel']}; {versions}. Load average before: {machine['load_before']:.1f}, after: "
            f"{machine['load_after']:.1f}.\n")


def markdown(machine, rows, tables, curves, with_charts=False):
    """All of it. The charts are files beside it, NAME.svg."""
    parts = ["# Figures\n", machine_text(machine), musts(rows), notes(rows)]
    for table in tables:
        note = f"\n{table.note}\n" if table.note else ""
        parts.append(f"## {table.title}\n\n{markdown_table(table.header, table.lines)}{note}")
    for curve in curves:
        table = curve.table()
        image = f"![{curve.title}]({curve.name}.svg)\n\n" if with_charts else ""
        parts.append(f"## {table.title}\n\n{image}{markdown_table(table.header, table.lines)}")
    return "\n".join(part for part in parts if part)


def as_json(machine, rows, tables, curves):
    return {
        "machine": machine,
        "rows": [dataclasses.asdict(row) | {"verdict": row.verdict().strip("*")} for row in rows],
        "tables": [dataclasses.asdict(table) for table in tables],
        "curves": [dataclasses.asdict(curve) for curve in curves],
    }
