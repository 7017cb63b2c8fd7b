"""Searches the index that riskdex keeps, with Elasticsearch's own client.

    riskdex = Riskdex(Elasticsearch("https://search.example", api_key="..."), search, complete)
    found = riskdex.search("protest london", filter=[country("GB")], start=10)

search and complete are the parsed files of mappings/.
"""

import json
import os
import pathlib
import re
import sys
import unicodedata

from elasticsearch import Elasticsearch

KINDS = ("cities", "advisories", "special-reports")


# Filters; docs/search.md has more.
def kind(*names):
    return {"terms": {"kind": names}}


def country(*codes):
    return {"terms": {"country": codes}}


def threat(*names):
    return {"terms": {"threats": names}}


def risk_at_least(level):
    return {"range": {"risk_level": {"gte": level}}}


class Riskdex:
    def __init__(self, client, search, complete, prefix=""):
        self.client = client.options(request_timeout=10)
        self.index = [prefix + name for name in KINDS]
        self.bodies = {"search": search, "complete": complete}

    def search(self, words, filter=(), size=10, start=0):
        """Finds what somebody searches for. After start hits, up to 10,000, come the next."""
        return self._ask(fill(self.bodies["search"], words, filter, size, start))

    def complete(self, typed, filter=(), size=8, start=0):
        """Finds what somebody has typed so far."""
        return self._ask(fill(self.bodies["complete"], typed, filter, size, start))

    def _ask(self, body):
        # It raises if a part of the index does not answer: never show that as "nothing found".
        answer = self.client.search(index=self.index, body=body, allow_partial_search_results=False)
        hits = [
            {
                **hit["_source"],
                "id": hit["_id"],
                "score": hit["_score"],
                "clauses": hit.get("matched_queries", []),
                "highlights": hit.get("highlight", {}),  # HTML: <em> around matches, everything else escaped
            }
            for hit in answer["hits"]["hits"]
        ]
        facets = {
            field: [
                {"value": b["key"].upper() if field == "country" else str(b["key"]), "documents": b["doc_count"]}
                for b in facet["buckets"]
            ]
            for field, facet in answer.get("aggregations", {}).items()
        }
        total = answer["hits"]["total"]
        words = answer.get("suggest", {}).get("did_you_mean", [])
        return {
            "total": total["value"],
            "more": total["relation"] != "eq",
            "hits": hits,
            "facets": facets,
            "didYouMean": did_you_mean(words, hits),
        }


MAX_CHARACTERS = 100  # of more, Elasticsearch may refuse the search


def fill(part, words, filter, size, start):
    """Replaces the placeholders of a parsed body. The client's JSON encoder escapes the words."""
    values = {"{{words}}": " ".join(words.split())[:MAX_CHARACTERS], "{{filter}}": list(filter), "{{size}}": size, "{{from}}": start}

    def walk(value):
        if isinstance(value, str):
            return values.get(value, value)
        if isinstance(value, list):
            return [walk(inner) for inner in value]
        if isinstance(value, dict):
            return {name: walk(inner) for name, inner in value.items()}
        return value

    return walk(part)


# A hit that only these clauses found does not show that the words were right.
WEAK = {
    "misspelt name", "misspelt name, and other words", "misspelt words", "a place in it", "a country in it", "a region in it", "a rare word", "its threat", "new", "words of its title",
    "some of the words, or others for the same threat", "all words in title, names and country",
}


def did_you_mean(words, hits):
    """Returns the search with likelier words, or "" if there is nothing to correct."""
    if any(name not in WEAK for hit in hits for name in hit["clauses"]):
        return ""
    known = {fold(word) for hit in hits for word in re.split(r"[\W_]+", unicodedata.normalize("NFC", hit.get("title", "")))}
    corrects = [bool(word["options"]) and fold(word["text"]) not in known for word in words]
    if not any(corrects):
        return ""
    return " ".join(word["options"][0]["text"] if wrong else word["text"] for word, wrong in zip(words, corrects))


def fold(word):
    return "".join(c for c in unicodedata.normalize("NFKD", word) if unicodedata.category(c) != "Mn").lower()


if __name__ == "__main__":  # riskdex.py WORDS [OPTIONS as JSON] searches, and prints what it found
    mappings = pathlib.Path(__file__).resolve().parents[2] / "mappings"
    bodies = [json.loads((mappings / name).read_text()) for name in ("search.json", "complete.json")]
    options = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    riskdex = Riskdex(
        Elasticsearch(os.environ.get("ELASTICSEARCH_URL", "http://localhost:9200")), *bodies,
        prefix=os.environ.get("RISKDEX_INDEX_PREFIX", ""),
    )
    ask = riskdex.complete if options.pop("complete", False) else riskdex.search
    print(json.dumps(ask(sys.argv[1], start=options.pop("from", 0), **options), indent=2))
