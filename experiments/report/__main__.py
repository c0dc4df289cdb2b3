"""Draws the figures and writes the tables of the experiments, from the rows in a results folder.

`python experiments/report RESULTS` draws the figures beside the rows. If `experiments/REPORT.md` shows the figures of
this folder, its tables are replaced, between `<!-- table NAME -->` and `<!-- end -->`; the text around them is written by
people. Otherwise the tables go to `RESULTS/TABLES.md`.
"""

import argparse
import json
import re
from pathlib import Path

import forgetting
import half_life
import pieces
import quality
import study
import theorems
import update_time
import warm_up
from tables import count, table

REPORT = Path(__file__).resolve().parent.parent / "REPORT.md"
EXPERIMENTS = {"theorems": theorems, "quality": quality, "study": study, "warm-up": warm_up, "update-time": update_time,
               "pieces": pieces, "forgetting": forgetting, "half-life": half_life}


def provenance(results, names):
    manifests = {name: json.loads((results / name / "manifest.json").read_text()) for name in names}
    rows, texts = [], {}
    for name, manifest in manifests.items():
        commits = ", ".join(commit[:12] + commit[40:] for commit in manifest["commits"])
        commands = ", ".join(f"`{command}`" for command in manifest["commands"])
        rows.append([name, ", ".join(manifest["dates"]), commits, manifest["machine"], commands])
        for source in manifest["sources"]:
            texts.setdefault(source["name"], (source, []))[1].append(name)
    sources = [[name, *(count(source[key]) for key in ["words", "lines", "bytes"]), f"`{source['blake3'][:16]}`",
                ", ".join(readers)] for name, (source, readers) in sorted(texts.items())]
    return {"made/experiments": table(["experiment", "date", "commit", "machine", "command"], rows),
            "made/texts": table(["text", "words", "lines", "bytes", "BLAKE3", "read by"], sources)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    results = parser.parse_args().results.resolve()
    names = [name for name in EXPERIMENTS if any((results / name).glob("*.csv"))]
    tables = {}
    for name in names:
        folder = results / name
        EXPERIMENTS[name].figures(folder)
        tables |= {f"{name}/{key}": text for key, text in EXPERIMENTS[name].tables(folder).items()}
    tables |= provenance(results, names)
    text = REPORT.read_text()
    if results.parent != REPORT.parent / "results" or f"results/{results.name}/" not in text:
        figures = "".join(f"![{path.stem}]({path.relative_to(results)})\n" for path in sorted(results.glob("*/*.svg")))
        text = "".join(f"## {name}\n\n{text}\n" for name, text in tables.items())
        (results / "TABLES.md").write_text(f"# Tables and figures\n\n{text}{figures}")
        print(results / "TABLES.md")
        return
    places = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
    missing = tables.keys() - {place[2] for place in places.finditer(text)}
    if missing:
        raise SystemExit(f"{REPORT} has no place for these tables: {', '.join(sorted(missing))}")
    # The tables of an experiment that was not run stay as they are.
    text = places.sub(lambda place: f"{place[1]}\n{tables[place[2]]}\n{place[3]}" if place[2] in tables else place[0], text)
    REPORT.write_text(text)
    print(REPORT)


main()
