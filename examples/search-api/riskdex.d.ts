export type Kind = "cities" | "advisories" | "special-reports";
export interface Point { lat: number; lon: number }

export interface Filters {
  kind?: Kind | Kind[];
  country?: string | string[];
  threat?: string | string[];
  risk_at_least?: number;
  near?: string; // "51.5,-0.12"
  within_km?: number;
  valid_on?: string;
  from?: number;
  size?: number;
}
export interface Query extends Filters {
  q?: string;
  sort?: "relevance" | "newest" | "nearest" | "risk";
  lang?: string;
}

export interface Suggestion { kind: Kind; id: string; code?: string; title: string; country: string[]; matched?: string }
export interface Hit extends Suggestion {
  risk_level?: 1 | 2 | 3 | 4 | 5;
  risk_label?: string;
  threats: string[];
  starts_at?: string;
  ends_at?: string;
  published_at?: string;
  updated_at?: string;
  received_at: string;
  location?: Point;
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
}
export interface Document extends Suggestion {
  names: string[];
  threats: string[];
  airports: string[];
  places: { name?: string; code?: string; location?: Point }[];
  risk_level?: number;
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

export class SearchError extends Error { status: number; reason: string; retryAfter: number }
export class Riskdex {
  constructor(url: string, options?: { key?: string });
  search(query: Query, options?: { signal?: AbortSignal }): Promise<Found>;
  complete(query: { q: string } & Filters, options?: { signal?: AbortSignal }): Promise<{ hits: Suggestion[] }>;
  document(kind: Kind, id: string, options?: { signal?: AbortSignal }): Promise<Document>;
}
export function pieces(snippet: string): { text: string; match: boolean }[];
