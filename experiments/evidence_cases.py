"""The cases of the experiments on evidence: data sets, shares of seeds, kinds of evidence, published numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

PAIRS = ("zh_en", "ja_en", "fr_en")
# How each kind of evidence is asked for: the options of `multiea align`.
KINDS = {
    "structure": ("--evidence", "structure"),
    "names": ("--evidence", "names"),
    "attributes": ("--evidence", "attributes"),
    "all": (),
}
GRAPHS, TABLES = ("structure", "names", "all"), ("names", "attributes", "all")
M_HITS, HITS = "m_hits", "hits"


@dataclass(frozen=True)
class Published:
    """A published number, or one measured with another tool, and whether it can be compared with ours."""

    method: str
    score: str
    value: str
    comparable: str


@dataclass(frozen=True)
class Case:
    """A data set. seeds: shares of the known groups that are seeds; 0 for none. kinds: the evidence that it has.

    build: arguments of `multiea build`, where it is built. folder: its name below the source, where it is read in
    place. translated: whether machine-translated names are added. rank: the score by ranks that is shown.
    """

    title: str
    seeds: tuple[float, ...]
    kinds: tuple[str, ...]
    build: tuple[str, ...] = ()
    folder: str | None = None
    translated: bool = False
    rank: str = M_HITS
    published: tuple[Published, ...] = field(default=())


SAME_INPUT = "same links, machine-translated names and candidates (`test`); the split may differ"
NO_SEEDS_INPUT = "same links and translated names; it also uses attributes and a language encoder (LaBSE)"
NOT_TUNED = "same tables, no seeds; F1 over all known groups; set up with care, threshold .95"
BEST_THRESHOLD = "not at a threshold of its own: the best one is chosen with the known groups"
_TRANSLATED = {
    "zh_en": (("SEU, no seeds", ".900"), ("LightEA", ".952"), ("FGWEA, no seeds", ".987")),
    "ja_en": (("SEU, no seeds", ".956"), ("LightEA", ".981"), ("FGWEA, no seeds", ".992")),
    "fr_en": (("SEU, no seeds", ".988"), ("LightEA", ".998"), ("FGWEA, no seeds", ".998")),
}


def _published(pair: str) -> tuple[Published, ...]:
    return tuple(
        Published(method, "Hits@1", value, NO_SEEDS_INPUT if method.startswith("FGWEA") else SAME_INPUT)
        for method, value in _TRANSLATED[pair]
    )


CASES = {
    "world": Case("world", (0.3, 0.0), GRAPHS),
    "settlements": Case(
        "settlements",
        (0.0,),
        TABLES,
        folder="settlements",
        published=(
            Published("Splink", "pair F1", ".857", NOT_TUNED),
            Published("Splink, best threshold", "pair F1", ".987", BEST_THRESHOLD),
        ),
    ),
    "musicbrainz": Case(
        "musicbrainz",
        (0.1, 0.0),
        TABLES,
        folder="musicbrainz",
        published=(
            Published("Splink", "pair F1", ".706", NOT_TUNED),
            Published("Splink, best threshold", "pair F1", ".987", BEST_THRESHOLD),
            Published(
                "Splink, 56 lines of parsing, best threshold", "pair F1", ".991", f"{BEST_THRESHOLD}; rules per source"
            ),
        ),
    ),
    "dbp-4": Case(
        "DBP-4",
        (0.3,),
        GRAPHS,
        build=("dbp-4",),
        published=(
            Published(
                "MultiEA, the best row of the paper",
                "M-Hits@1 / 10 / 20, `test`, in percent",
                "10.58 / 50.38 / 61.75",
                "with `structure` only: the paper uses no names, and the counts of its KGs differ",
            ),
        ),
    ),
    **{pair: Case(f"DBP15K {pair}, own names", (0.3, 0.0), GRAPHS, folder=pair, rank=HITS) for pair in PAIRS},
    **{
        f"{pair} translated": Case(
            f"DBP15K {pair}, translated names added",
            (0.3, 0.0),
            ("names", "all"),
            folder=pair,
            translated=True,
            rank=HITS,
            published=_published(pair),
        )
        for pair in PAIRS
    },
    "dbp15k full": Case("dbp15k `--full`, own names", (0.3, 0.0), GRAPHS, build=("dbp-4", "--full")),
    "dwy15k full": Case("dwy15k `--full`", (0.3,), GRAPHS, build=("dwy-3", "--full")),
}
