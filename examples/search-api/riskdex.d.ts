export type Kind = "cities" | "advisories" | "special-reports";
export interface Point { lat: number; lon: number }

export interface Place { name?: string; location: Point }
export type Level = 1 | 2 | 3 | 4 | 5;

export interface Filters {
  kind?: Kind | Kind[] | undefined;
  country?: string | string[] | undefined;
  threat?: string | string[] | undefined;
  risk_level?: Level | Level[] | undefined; // or risk_at_least
  risk_at_least?: number | undefined;
  near?: string | undefined; // "51.5,-0.12"
  within_km?: number | undefined;
  valid_on?: string | undefined;
  from?: number | undefined;
  size?: number | undefined;
}
export interface Query extends Filters {
  q?: string | undefined;
  sort?: "relevance" | "newest" | "nearest" | "risk" | undefined;
  lang?: string | undefined;
}

export interface Suggestion {
  kind: Kind; id: string; code?: string; title: string; country: string[]; matched?: string;
  country_names?: string[]; in_language?: string; // in the language of lang
}
export interface Hit extends Suggestion {
  risk_level?: Level;
  risk_label?: string;
  threats: string[];
  starts_at?: string;
  ends_at?: string;
  published_at?: string;
  updated_at?: string;
  received_at: string;
  location?: Point;
  nearest?: Place; // to near; without a name it is location itself
  distance_km?: number;
  snippet: string; // HTML: use pieces()
}
export interface Count { value: string; count: number }
export interface Found {
  total: number;
  more: boolean;
  hits: Hit[];
  facets: { kind?: Count[]; country?: Count[]; risk_level?: Count[]; threats?: Count[] };
  did_you_mean?: string;
  no_report: boolean;
  no_report_on?: {name: string; country: string[]; location?: Point}; // the hits are the nearest to it
}
export interface Report { // Document of the description
  kind: Kind;
  id: string;
  code?: string;
  title?: string;
  country: string[];
  names: string[];
  threats: string[];
  airports: string[];
  places: { name?: string; code?: string; location?: Point }[];
  risk_level?: Level;
  risk_label?: string;
  location?: Point;
  summary?: string;
  text?: string;
  text_in?: Record<string, string>;
  starts_at?: string;
  ends_at?: string;
  published_at?: string;
  updated_at?: string;
  received_at: string;
  version: number;
  source?: unknown;
}

// Also where nothing answers: then the status is 0. Who aborts gets an AbortError instead.
export class SearchError extends Error { status: number; reason: string; retryAfter: number }
export class Riskdex {
  constructor(url: string, options?: { key?: string });
  search(query: Query, options?: { signal?: AbortSignal }): Promise<Found>;
  complete(query: { q: string } & Filters, options?: { signal?: AbortSignal }): Promise<{ hits: Suggestion[]; places?: { name: string; country: string[]; matched?: string }[] }>;
  document(kind: Kind, id: string, options?: { signal?: AbortSignal }): Promise<Report>;
}
export function pieces(snippet: string): { text: string; match: boolean }[];
