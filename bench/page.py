#!/usr/bin/env python3
"""Bar charts of what bench.py measured: page.py RESULT.json ... > page.html. Parts of one run are joined; nothing is loaded from elsewhere."""
import html
import json
import math
import sys

COLOURS = {"ctilec": "#1b6ac9", "cuda-tile": "#c0392b", "cuBLAS": "#76b900", "cuDNN": "#76b900", "torch": "#e07b39", "torch.compile": "#c9a227", "triton": "#6a9f58", "cub": "#8d6cab"}
STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; } td, th { padding: 1px 10px 1px 0; text-align: right; white-space: nowrap; }
td:first-child, th:first-child { text-align: left; } .bad { color: #d33; font-weight: 600; } .dim { opacity: .65; }
svg { display: block; } text { fill: currentColor; font: 11px system-ui, sans-serif; }
"""
LEFT, WIDE, BAR, GAP = 270, 560, 9, 7          # pixels: names, 100 % of copy, a bar, between cases
MOST = 1.25                                    # what does not fit ends here


def peers_of(row):
    return {n: v for n, v in row["rates"].items() if n != "ctilec"}


def best(row):
    return max((v["share"] for v in peers_of(row).values()), default=None)


def ratio(row):
    return row["rates"]["ctilec"]["share"] / best(row) if "ctilec" in row["rates"] and best(row) else None


def chart(rows):
    """Bars from the left edge, with the spread of the rounds as a line; worst first."""
    out, y = [], 18
    for row in rows:
        rates = row["rates"]
        mine = ratio(row)
        top = y
        out.append('<text x="%d" y="%d" text-anchor="end"%s>%s</text>' % (
            LEFT - 8, y + 9, ' class="bad"' if mine is not None and mine < 0.98 else "", html.escape(row["name"])))
        for name in sorted(rates, key=lambda n: list(COLOURS).index(n)):
            v = rates[name]
            length = WIDE * min(v["share"], MOST)
            low, high = (LEFT + WIDE * min(v[k], MOST) for k in ("low", "high"))
            out.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"><title>%s: %.1f %% of copy, %.1f to %.1f; %.1f us</title></rect>' % (
                LEFT, y, length, BAR - 1, COLOURS[name], name, 100 * v["share"], 100 * v["low"], 100 * v["high"], v["us"]))
            out.append('<path d="M%.1f %.1fH%.1f" stroke="currentColor" stroke-width="1"/>' % (low, y + (BAR - 1) / 2, high))
            out.append('<text x="%.1f" y="%d">%.1f%s</text>' % (
                max(LEFT + length, high) + 4, y + 8, 100 * v["share"], " &#215;%.2f" % mine if name == "ctilec" and mine else ""))
            y += BAR
        if row.get("same"):
            x = LEFT + WIDE * min(row["same"], MOST)
            out.append('<path d="M%.1f %dV%d" stroke="#d33" stroke-width="2"><title>a copy of as many bytes: %.1f %%</title></path>' % (
                x, top, y, 100 * row["same"]))
        y += GAP
    ticks = "".join('<path d="M%d 14V%d" stroke="currentColor" opacity=".25"/><text x="%d" y="10" text-anchor="middle">%d %%</text>' % (
        LEFT + WIDE * p / 100, y, LEFT + WIDE * p / 100, p) for p in (0, 25, 50, 75, 100))
    return '<svg width="%d" height="%d" role="img">%s%s</svg>' % (LEFT + WIDE * MOST + 90, y, ticks, "".join(out))


def table(rows, names):
    head = "".join("<th>%s</th>" % n for n in names)
    lines = ["<tr><th>case</th><th>&#181;s</th><th>&#215; best peer</th><th>spread</th>%s<th>copy of its size</th></tr>" % head]
    for row in rows:
        own, mine = row["rates"]["ctilec"], ratio(row)
        cells = "".join("<td>%s</td>" % ("%.1f" % (100 * row["rates"][n]["share"]) if n in row["rates"] else
                                         "wrong" if n in row["wrong"] else "") for n in names)
        lines.append("<tr><td>%s</td><td>%.1f</td><td%s>%s</td><td>%.1f&#8211;%.1f</td>%s<td>%s</td></tr>" % (
            html.escape(row["name"]), own["us"], ' class="bad"' if mine is not None and mine < 0.98 else "",
            "%.2f" % mine if mine else "", 100 * own["low"], 100 * own["high"], cells, "%.1f" % (100 * row["same"]) if row.get("same") else ""))
    return "<table>%s</table>" % "".join(lines)


SIDES = {"gemm": "Products of matrices, in percent of cuBLAS", "attention": "Attention forward, in percent of cuDNN",
         "memory": "Memory-bound kernels, in percent of the copy rate of the same rounds"}


def over(row):
    """Our speed over that of the other target."""
    rates = row["rates"]
    return rates["cuda-tile"]["us"] / rates["ctilec"]["us"] if "ctilec" in rates and "cuda-tile" in rates else None


def sides_table(rows):
    """What tile/bench.py measured of one part."""
    names = [n for n in COLOURS if any(n in r["rates"] for r in rows)]
    cell = lambda v: "<td>%.1f%s</td><td>%.1f <span class=dim>%.1f&#8211;%.1f</span></td>" % (
        v["us"], " <span class=dim>%s</span>" % v["tile"] if v.get("tile") else "", 100 * v["share"], 100 * v["low"], 100 * v["high"])
    lines = ["<tr><th>case</th><th>cuda over cuda-tile</th>%s</tr>" % "".join("<th>%s &#181;s</th><th>%%</th>" % n for n in names)]
    for r in rows:
        lines.append("<tr><td>%s</td><td%s>%s</td>%s</tr>" % (
            html.escape(r["name"]), ' class="bad"' if over(r) and over(r) < 0.98 else "", "%.2f" % over(r) if over(r) else "",
            "".join(cell(r["rates"][n]) if n in r["rates"] else "<td></td><td>%s</td>" % ("wrong" if n in r["wrong"] else "") for n in names)))
    return "<table>%s</table>" % "".join(lines)


def sides_page(result):
    """The targets cuda and cuda-tile, of one source, beside a library."""
    p = ["<h1>Our CUDA beside NVIDIA's compiler</h1>"]
    p.append("<p>%s; %s; %d shuffled rounds, medians with the least and the greatest. One source each: <code>--target=cuda</code> (ctilec) and "
             "<code>--target=cuda-tile</code>; the fastest tile shape of each. &#215;: over the best peer.</p>" % (
                 html.escape(result["device"]), html.escape(", ".join("%s %s" % v for v in result["versions"].items())), result["rounds"]))
    wrong = ["%s, not compiled: %s" % v for v in result["not_compiled"].items()]
    for part, rows in result["parts"].items():
        wrong += ["%s, %s: %s" % (r["name"], n, w) for r in rows for n, w in r["wrong"].items()]
        rows = [r for r in rows if r["rates"]]
        both = [over(r) for r in rows if over(r)]
        p.append("<h2>%s</h2>" % SIDES[part])
        if not both: continue
        p.append("<p><b>%d rows</b> with both; ours over cuda-tile: geometric mean <b>%.2f</b>, %.2f to %.2f; below 0.98: <b>%d</b>.</p>" % (
            len(both), math.exp(sum(map(math.log, both)) / len(both)), min(both), max(both), sum(v < 0.98 for v in both)))
        p.append("<p>%s</p>" % "&#160;&#160; ".join('<span style="color:%s">&#9632;</span> %s' % (COLOURS[n], n) for n in COLOURS if any(n in r["rates"] for r in rows)))
        p.append(chart(rows))
        p.append(sides_table(rows))
    if wrong: p.append("<h2>Left out</h2><ul>%s</ul>" % "".join("<li>%s</li>" % html.escape(w) for w in wrong))
    for when in ("clocks_before", "clocks_after"):
        if result.get(when): p.append('<p class="dim">%s: %s</p>' % (when.replace("_", " "), html.escape(", ".join("%s %s" % v for v in result[when].items()))))
    return written("Our CUDA beside NVIDIA's compiler", p)


def written(title, paragraphs):
    head = '<meta charset="utf-8"><title>%s</title><style>%s</style>' % (html.escape(title), STYLE)
    return '<!DOCTYPE html>\n<html lang="en"><head>%s</head>\n<body>\n%s\n</body></html>\n' % (head, "\n".join(paragraphs))


def page(parts):
    if "parts" in parts[0]: return sides_page(parts[0])
    rows = [row for part in parts for row in part["rows"]]
    good = sorted((r for r in rows if "ctilec" in r["rates"]), key=lambda r: r["rates"]["ctilec"]["share"])
    failed = [r for r in rows if "ctilec" not in r["rates"]]
    wrong = [(r["name"], n, w) for r in good for n, w in r["wrong"].items()]
    names = [n for n in COLOURS if any(n in r["rates"] for r in good)]
    ratios = [ratio(r) for r in good if ratio(r)]
    first = parts[0]
    p = ["<h1>Memory-bound kernels</h1>"]
    p.append("<p>%s; %s; %d shuffled rounds, medians.</p>" % (
        html.escape(first["device"]), html.escape(", ".join("%s %s" % v for v in first["versions"].items())), first["rounds"]))
    if ratios:
        mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
        p.append("<p><b>%d cases</b>; geometric mean of our rate over the best peer's: <b>%.2f</b>; below 0.98: <b>%d</b>.</p>" % (
            len(good), mean, sum(r < 0.98 for r in ratios)))
    if failed:
        p.append('<h2 class="bad">Failed</h2><ul>%s</ul>' % "".join(
            "<li>%s: %s</li>" % (html.escape(r["name"]), html.escape("; ".join("%s: %s" % w for w in r["wrong"].items()))) for r in failed))
    copies = [r["copy"] for r in good]
    if copies:
        p.append("<p>Rates are of the bytes that a case has to move, in percent of the copy measured between the same rounds "
                 "(%.0f to %.0f GB/s). Worst first. Lines show the least and the greatest round. &#215;: over the best peer. "
                 "Red: the driver's copy of as many bytes, which is what a kernel of that size can reach.</p>" % (
                     min(copies) / 1e9, max(copies) / 1e9))
        p.append("<p>%s</p>" % "&#160;&#160; ".join('<span style="color:%s">&#9632;</span> %s' % (COLOURS[n], n) for n in names))
        p.append(chart(good))
        p.append("<h2>Figures</h2>" + table(good, names))
    p.append("<h2>Launch path</h2><p>Time of the host for one call of 1,000 elements: %s.</p>" % html.escape(
        ", ".join("%s %.2f us" % v for v in first["launch_us"].items())))
    notes = ["%s is left out: %s" % v for part in parts for v in part["missing"].items()]
    notes += ["%s: %s is left out: %s" % w for w in wrong]
    if notes: p.append("<h2>Left out</h2><ul>%s</ul>" % "".join("<li>%s</li>" % html.escape(n) for n in dict.fromkeys(notes)))
    for part in parts:
        for when in ("clocks_before", "clocks_after"):
            if part.get(when):
                p.append('<p class="dim">%s: %s</p>' % (when.replace("_", " "), html.escape(", ".join("%s %s" % v for v in part[when].items()))))
    return written("Memory-bound kernels", p)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    parts = []
    for path in sys.argv[1:]:
        with open(path) as f:
            parts.append(json.load(f))
    sys.stdout.write(page(parts))


if __name__ == "__main__":
    main()
