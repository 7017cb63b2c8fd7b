// Searches riskdex through its search API, with fetch alone: in browsers, and in Node from 20 on.
// riskdex.d.ts has the types.

export class SearchError extends Error {
  constructor(problem, retryAfter) {
    super(problem.detail);
    Object.assign(this, {status: problem.status, reason: problem.reason ?? "", retryAfter});
  }
}

export class Riskdex {
  constructor(url, {key} = {}) {
    this.url = url.replace(/\/$/, "");
    this.headers = key ? {Authorization: `Bearer ${key}`} : {};
  }

  search(query, {signal} = {}) {
    return this.#get("/v1/search", query, signal);
  }

  complete(query, {signal} = {}) {
    return this.#get("/v1/complete", query, signal);
  }

  document(kind, id, {signal} = {}) {
    return this.#get(`/v1/documents/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`, {}, signal);
  }

  async #get(path, query, signal) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null) parameters.set(name, String(value)); // lists get commas
    const late = AbortSignal.timeout(10_000);
    const response = await fetch(`${this.url}${path}?${parameters}`, {headers: this.headers, signal: signal ? AbortSignal.any([signal, late]) : late}).catch((error) => {
      if (signal?.aborted) throw error;
      throw new SearchError({status: 0, reason: "no_answer", detail: `The search API does not answer: ${error.message}.`}, 0);
    });
    if (response.ok) return response.json();
    const problem = await response.json().catch(() => ({status: response.status, detail: `The search failed: ${response.status}.`}));
    throw new SearchError(problem, Number(response.headers.get("Retry-After") ?? 0)); // never show this as "nothing found"
  }
}

// The pieces of a snippet as plain text, each with whether it matches, so that no HTML gets into a page.
export function pieces(snippet) {
  const names = {lt: "<", gt: ">", amp: "&", quot: '"'};
  const plain = (html) => html.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    hex ? String.fromCodePoint(parseInt(hex, 16)) : decimal ? String.fromCodePoint(Number(decimal)) : (names[name] ?? whole));
  return snippet.split(/<em>(.*?)<\/em>/s).map((text, i) => ({text: plain(text), match: i % 2 === 1})).filter(({text}) => text);
}
