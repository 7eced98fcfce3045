"""Rows of shape-bench beside the better of peers_shapes.py's variants. usage: compare_shapes.py OURS PEERS [--all]

Prints the geometric mean of ours / theirs for each operation and over all, and the rows where we are worst."""
import argparse
import json
import math
from collections import defaultdict


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def compare(ours, peers, variants):
    """[(ratio, name, our ms, their ms, variant, launches)] of the rows that both have, and notes about the others."""
    compared, notes = [], []
    for name, mine in ours["rows"].items():
        theirs = peers["rows"].get(name)
        if theirs is None:
            notes.append(f"{name}: not measured by the peer")
            continue
        times = {v: t["ms"] for v, t in theirs["variants"].items() if not variants or v in variants}
        for variant, error in theirs.get("errors", {}).items():
            notes.append(f"{name}: {variant} failed: {error.splitlines()[0][:120]}")
        if "error" in mine:
            notes.append(f"{name}: we failed: {mine['error'].splitlines()[0][:120]}")
        elif not times:
            notes.append(f"{name}: no figure of the peer")
        elif any(mine[key] != theirs[key] for key in ("bytes", "sets")):
            raise SystemExit(f"{name}: not the same work: ours moves {mine['bytes']} bytes with {mine['sets']} sets of "
                             f"inputs, theirs {theirs['bytes']} with {theirs['sets']}")
        else:
            best = min(times, key=times.get)
            compared.append((mine["ms"] / times[best], name, mine["ms"], times[best], best, mine["launches"]))
    notes += [f"{name}: not measured by us" for name in peers["rows"] if name not in ours["rows"]]
    return compared, notes


def show(rows):
    print(f"{'row':44s} {'ours, ms':>10s} {'peer, ms':>10s} {'ratio':>6s}  {'launches':>8s}  better peer")
    for ratio, name, mine, theirs, variant, launches in rows:
        print(f"{name:44s} {mine:10.5f} {theirs:10.5f} {ratio:6.2f}  {launches:8.2f}  {variant}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("peers", nargs="+", help="one file, or those of several parts")
    parser.add_argument("--variants", default="", help="compare with these alone, as eager,compile")
    parser.add_argument("--worst", type=int, default=25, metavar="N", help="show so many of the worst rows (25)")
    parser.add_argument("--all", action="store_true", help="show all rows, in the order of the file")
    arguments = parser.parse_args()
    with open(arguments.ours) as file:
        ours = json.load(file)
    peers = {"rows": {}}
    for path in arguments.peers:
        with open(path) as file:
            peers["rows"].update(json.load(file)["rows"])
    compared, notes = compare(ours, peers, [v for v in arguments.variants.split(",") if v])
    if not compared:
        raise SystemExit("\n".join(["no row can be compared", *notes]))
    if arguments.all:
        show(compared)
        print()
    by_operation = defaultdict(list)
    for ratio, name, *_ in compared:
        by_operation[name.split()[0]].append((ratio, name))
    print(f"{'operation':24s} {'rows':>5s} {'mean':>6s} {'least':>6s} {'worst':>6s}  slower than the peer")
    for operation, rows in [*by_operation.items(), ("all", [(ratio, name) for ratio, name, *_ in compared])]:
        ratios = [ratio for ratio, _ in rows]
        print(f"{operation:24s} {len(ratios):5d} {mean(ratios):6.2f} {min(ratios):6.2f} {max(ratios):6.2f}  "
              f"{sum(ratio > 1 for ratio in ratios)}")
    print(f"\nthe worst of {len(compared)}:")
    show(sorted(compared, reverse=True)[:arguments.worst])
    for note in notes:
        print(note)
