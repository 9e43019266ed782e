"""Words for names: which properties and columns say by their name that their values are names, or parts of names."""

from __future__ import annotations

from collections.abc import Collection

_SKOS, _OBO = "http://www.w3.org/2004/02/skos/core#", "http://www.geneontology.org/formats/oboInOwl#"
# Properties whose literals are names of entities, the best ones first: these are shown.
PREFERRED_PROPERTIES = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    f"{_SKOS}prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
)
ALTERNATIVE_PROPERTIES = (
    f"{_SKOS}altLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    f"{_OBO}hasExactSynonym",
    "http://purl.obolibrary.org/obo/IAO_0000118",  # alternative term
    f"{_SKOS}hiddenLabel",
    f"{_OBO}hasRelatedSynonym",
    f"{_OBO}hasNarrowSynonym",
    f"{_OBO}hasBroadSynonym",
)
NAME_PROPERTIES = (*PREFERRED_PROPERTIES, *ALTERNATIVE_PROPERTIES)
# The same for columns, and for the local names of other IRIs: without case and punctuation, the best ones first.
PREFERRED_WORDS = (
    *("label", "preflabel", "preferredlabel", "name", "preferredname", "prefname", "displayname", "fullname"),
    *("names", "labels"),
)
ALTERNATIVE_WORDS = (
    *("altlabel", "altlabels", "alternatename", "alternatenames", "alternativename"),
    *("altname", "altnames", "othername", "othernames", "alias", "aliases", "synonym", "synonyms"),
)
NAME_WORDS = (*PREFERRED_WORDS, *ALTERNATIVE_WORDS)
# Names only where their values differ from entity to entity: "title" may be that of a person.
DOUBTFUL_WORDS = ("title", "maintitle")
# Columns such as `city_name` are names if they are the only one of their kind; these never are.
NO_WHOLE_NAMES = (
    *("first", "last", "given", "family", "fore", "sur", "middle", "maiden", "vor", "nach", "familien"),
    *("user", "nick", "file", "host", "domain"),
)
# Columns that are the name of a person together.
FIRST_NAME_WORDS = (
    *("firstname", "givenname", "givennames", "forename", "forenames", "fname", "first", "given"),
    *("vorname", "prenom", "prénom", "nombre", "nome", "voornaam", "fornavn", "förnamn"),
)
LAST_NAME_WORDS = (
    *("lastname", "surname", "familyname", "lname", "last", "family"),
    *("nachname", "familienname", "nom", "nomdefamille", "apellido", "apellidos", "cognome", "sobrenome"),
    *("achternaam", "etternavn", "efternavn", "efternamn"),
)
# Columns that are never names, whatever their values look like.
NO_NAMES = ("description", "comment", "comments", "note", "notes", "remark", "remarks", "address", "street")


def name_candidates(properties: Collection[str]) -> dict[str, int]:
    """The properties that may be names, each with its rank."""
    order = [*NAME_PROPERTIES, *NAME_WORDS, *DOUBTFUL_WORDS]
    rank = {one: order.index(one) for one in properties if one in NAME_PROPERTIES}
    others = {one: plain_word(one) for one in properties if one not in rank}
    rank |= {
        one: order.index(word)
        for one, word in others.items()
        if word in NAME_WORDS or (word in DOUBTFUL_WORDS and not is_iri(one))
    }
    if not rank:
        of_kind = [one for one, word in others.items() if _is_some_name(word) and not is_iri(one)]
        rank |= dict.fromkeys(of_kind if len(of_kind) == 1 else [], len(order))
    return rank


def first_and_last_name(properties: Collection[str]) -> tuple[str, str] | None:
    """The properties of first and last names, where there are both; of several the one with the best known word."""
    found = []
    for words in (FIRST_NAME_WORDS, LAST_NAME_WORDS):
        of_kind = sorted((words.index(word), one) for one in properties if (word := plain_word(one)) in words)
        if not of_kind:
            return None
        found.append(of_kind[0][1])
    return found[0], found[1]


def is_alternative(name_property: str) -> bool:
    """Whether it is known for synonyms, which may be the labels of wider or narrower concepts as well."""
    return name_property in ALTERNATIVE_PROPERTIES or plain_word(name_property) in ALTERNATIVE_WORDS


def is_doubtful(name_property: str) -> bool:
    """Whether its word alone does not decide that it is a name."""
    return name_property not in NAME_PROPERTIES and plain_word(name_property) not in NAME_WORDS


def _is_some_name(word: str) -> bool:
    return word.endswith("name") and word.removesuffix("name") not in NO_WHOLE_NAMES


def is_no_name(word: str) -> bool:
    """Whether a word is known for values that are never whole names."""
    return word in NO_NAMES or (word.endswith("name") and word.removesuffix("name") in NO_WHOLE_NAMES)


def is_iri(name_property: str) -> bool:
    """Whether a property is an IRI, and not the name of a column."""
    return "://" in name_property or name_property.startswith("urn:")


def local_name(name: str) -> str:
    """A property or relation without its namespace, if it is an IRI."""
    return name.rstrip("/#").replace("#", "/").rpartition("/")[2] if is_iri(name) else name


def plain_word(name_property: str) -> str:
    """A property without case and punctuation; of an IRI the local name."""
    return "".join(filter(str.isalnum, local_name(name_property).casefold()))
