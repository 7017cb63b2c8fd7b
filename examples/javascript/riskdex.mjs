// Searches the index that riskdex keeps, with fetch alone: in browsers, and in Node from 18 on.
//
//	const riskdex = new Riskdex("https://search.example", {search, complete}); // the parsed files
//	const found = await riskdex.search("protest london", {filter: [country("GB")], from: 10});

const kinds = ["cities", "advisories", "special-reports"];

// Filters; docs/search.md has more.
export const kind = (...names) => ({terms: {kind: names}});
export const country = (...codes) => ({terms: {country: codes}});
export const threat = (...names) => ({terms: {threats: names}});
export const riskAtLeast = (level) => ({range: {risk_level: {gte: level}}});

export class Riskdex {
  constructor(url, bodies, {prefix = "", headers = {}} = {}) {
    this.url = `${url.replace(/\/$/, "")}/${kinds.map((k) => prefix + k).join(",")}/_search?allow_partial_search_results=false`;
    this.bodies = bodies;
    this.headers = {...headers, "Content-Type": "application/json"};
  }

  // What somebody searches for. After `from` hits, up to 10,000, come the next.
  search(words, options) {
    return this.#ask(fill(this.bodies.search, words, {size: 10, ...options}), options?.signal);
  }

  // What somebody has typed so far. Give a signal, and abort it when the next letter comes.
  complete(typed, options) {
    return this.#ask(fill(this.bodies.complete, typed, {size: 8, ...options}), options?.signal);
  }

  async #ask(body, signal) {
    const response = await fetch(this.url, {
      method: "POST", headers: this.headers, body: JSON.stringify(body), signal: signal ?? AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`the search failed: ${response.status} ${await response.text()}`); // never show this as "nothing found"
    const answer = await response.json();
    const hits = answer.hits.hits.map((hit) => ({
      ...hit._source, id: hit._id, score: hit._score, clauses: hit.matched_queries ?? [],
      highlights: hit.highlight ?? {}, // HTML: <em> around matches, everything else escaped
    }));
    const facets = {};
    for (const [field, facet] of Object.entries(answer.aggregations ?? {})) {
      facets[field] = facet.buckets.map((b) => ({value: field === "country" ? b.key.toUpperCase() : String(b.key), documents: b.doc_count}));
    }
    return {
      total: answer.hits.total.value, more: answer.hits.total.relation !== "eq", hits, facets,
      didYouMean: didYouMean(answer.suggest?.did_you_mean ?? [], hits),
    };
  }
}

// Of more, Elasticsearch may refuse the search.
const maxCharacters = 100;

// Replaces the placeholders of a parsed body. JSON.stringify escapes the words.
function fill(part, words, {filter = [], size, from = 0}) {
  const values = {"{{words}}": [...words.trim().replace(/\s+/g, " ")].slice(0, maxCharacters).join(""), "{{filter}}": filter, "{{size}}": size, "{{from}}": from};
  const walk = (value) => {
    if (typeof value === "string") return Object.hasOwn(values, value) ? values[value] : value;
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]));
  };
  return walk(part);
}

// A hit that only these clauses found does not show that the words were right.
const weak = new Set([
  "misspelt name", "misspelt name, and other words", "misspelt words", "a place in it", "a country in it", "a region in it", "a rare word", "its threat", "new", "words of its title",
  "some of the words, or others for the same threat", "all words in title, names and country",
]);

// The search with likelier words, or "" if there is nothing to correct.
function didYouMean(words, hits) {
  const fold = (word) => word.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase();
  if (hits.some((hit) => hit.clauses.some((name) => !weak.has(name)))) return "";
  const known = new Set(hits.flatMap((hit) => (hit.title ?? "").split(/[^\p{L}\p{Nd}\p{Mn}]+/u).map(fold)));
  const corrects = (word) => word.options.length > 0 && !known.has(fold(word.text));
  return words.some(corrects) ? words.map((word) => (corrects(word) ? word.options[0].text : word.text)).join(" ") : "";
}

// node riskdex.mjs WORDS [OPTIONS as JSON] searches, and prints what it found.
if (globalThis.process?.argv[1] && import.meta.url === new URL(`file://${(await import("node:fs")).realpathSync(process.argv[1])}`).href) {
  const {readFileSync} = await import("node:fs");
  const body = (name) => JSON.parse(readFileSync(new URL(`../../mappings/${name}.json`, import.meta.url), "utf8"));
  const {complete, ...options} = JSON.parse(process.argv[3] ?? "{}");
  const riskdex = new Riskdex(
    process.env.ELASTICSEARCH_URL ?? "http://localhost:9200", {search: body("search"), complete: body("complete")},
    {prefix: process.env.RISKDEX_INDEX_PREFIX ?? ""},
  );
  console.log(JSON.stringify(await riskdex[complete ? "complete" : "search"](process.argv[2], options), null, 2));
}
