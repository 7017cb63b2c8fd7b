"""Searches riskdex through its search API, with the standard library alone.

    found = Riskdex("http://127.0.0.1:8082").search(q="protest london", country=["GB"])
"""

import json
import urllib.error
import urllib.parse
import urllib.request


class SearchError(Exception):
    """No answer. Never show this as "nothing found"."""

    def __init__(self, problem, retry_after):
        super().__init__(problem.get("detail", "the search failed"))
        self.status, self.reason, self.retry_after = problem.get("status"), problem.get("reason", ""), retry_after


class Riskdex:
    def __init__(self, url, key=None, timeout=10):
        self.url, self.timeout = url.rstrip("/"), timeout
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def search(self, **query):
        return self._get("/v1/search", query)

    def complete(self, q, **filters):
        return self._get("/v1/complete", {"q": q, **filters})

    def document(self, kind, id):
        return self._get(f"/v1/documents/{kind}/{urllib.parse.quote(id, safe='')}", {})

    def _get(self, path, query):
        given = {name: ",".join(value) if isinstance(value, (list, tuple)) else value for name, value in query.items() if value is not None}
        request = urllib.request.Request(f"{self.url}{path}?{urllib.parse.urlencode(given)}", headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            try:
                problem = json.load(error)
            except ValueError:
                problem = {"status": error.code}
            raise SearchError(problem, int(error.headers.get("Retry-After") or 0)) from None


if __name__ == "__main__":
    import os
    import sys

    riskdex = Riskdex(os.environ.get("RISKDEX_SEARCH_URL", "http://127.0.0.1:8082"))
    print(json.dumps(riskdex.search(**dict(argument.split("=", 1) for argument in sys.argv[1:]))))
