"""Summarises penguins.csv by GROUP_BY: a table to stdout and a bar chart to chart.svg."""

import csv
import statistics
from html import escape

GROUP_BY = ["species"]
MEASURE = "body_mass_g"


def groups():
    found = {}
    with open("penguins.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row[MEASURE] not in ("", "NA"):
                key = " / ".join(row[column] for column in GROUP_BY)
                found.setdefault(key, []).append(float(row[MEASURE]))
    return sorted(found.items())


def table(rows):
    width = max(len(key) for key, _ in rows)
    print(f"{'group':<{width}}  count   mean  spread")
    for key, values in rows:
        spread = statistics.stdev(values) if len(values) > 1 else 0
        print(f"{key:<{width}}  {len(values):>5}  {statistics.mean(values):>5.0f}  {spread:>6.0f}")


def chart(rows):
    top = max(statistics.mean(values) for _, values in rows)
    bars = []
    for index, (key, values) in enumerate(rows):
        y = 50 + index * 34
        length = 420 * statistics.mean(values) / top
        bars.append(
            f'<text x="190" y="{y + 16}" text-anchor="end">{escape(key)}</text>'
            f'<rect x="200" y="{y}" width="{length:.1f}" height="22" rx="3" fill="#2a7f9e"/>'
            f'<text x="{208 + length:.1f}" y="{y + 16}">{statistics.mean(values):.0f} g</text>'
        )
    height = 70 + len(rows) * 34
    with open("chart.svg", "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" '
            f'font-family="sans-serif" font-size="14"><rect width="100%" height="100%" fill="white"/>'
            f'<text x="20" y="28" font-size="17">Mean body mass by {" and ".join(GROUP_BY)}</text>'
            + "".join(bars)
            + "</svg>\n"
        )


rows = groups()
table(rows)
chart(rows)
