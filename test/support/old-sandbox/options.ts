import type { DownloadPath } from "./data/library.js";
import type { Revenue } from "./data/sales.js";
import type { IdForm } from "./data/undocumented.js";
import type { RateHeaders, RetryAfter } from "./limits.js";
import type { ErrorBody } from "./refusal.js";

/** What the API document leaves open, and how this sandbox fills it. */
export interface Undocumented {
  /** Whether gifts, codes and surveys take `page` and `per_page` and answer with `pagination`. Default true. */
  paginated?: boolean;
  /** Whether they refuse parameters they do not know with 400, or ignore them. Default true. */
  strict?: boolean;
  /** Whether their ids are UUIDs or numbers. Default "text". */
  ids?: IdForm;
  /** Whether `download_path` repeats the versioned root. Default "short". */
  downloadPath?: DownloadPath;
  /** Whether analytics take refunds off the revenue. Default "net". */
  revenue?: Revenue;
}

export interface SandboxOptions {
  /** The API's port; 0, the default: any free one. */
  port?: number;
  /** The same seed (and `now`) gives the same data. Default 1. */
  seed?: number;
  /** Orders in the history of two years. Default 5,000; millions start at once. */
  orders?: number;
  /** Requests per key per minute, twice that per address; null: none. Default 60. */
  rateLimit?: number | null;
  /** Milliseconds before each answer. Default 0. */
  latencyMs?: number;
  /** Whether events happen as the clock moves. `advance` makes them happen in any case. */
  live?: boolean;
  /** How many times the natural number of events happens; natural is what the orders per day suggest. Default 1. */
  pace?: number;
  /** The sandbox's time at its start, in milliseconds since 1970; the data is anchored to it. Default: now. */
  now?: number;
  /** The history ends with the last midnight (UTC): a restart on the same day gives the same dates. Default: it ends now. */
  wholeDays?: boolean;
  /** How the headers are called that say what is left of the limit. Default "x-ratelimit". */
  rateHeaders?: RateHeaders;
  /** How a 429 says when to come back. Default "seconds". */
  retryAfter?: RetryAfter;
  undocumented?: Undocumented;
  /** Adds unknown attributes at every depth and unknown enum values, as a later version of the API might. */
  extra?: boolean;
  /** The form of error bodies. Default "nested". */
  errorBody?: ErrorBody;
}

export type Settings = Required<Omit<SandboxOptions, "now" | "undocumented">> & {
  now: number | undefined;
  undocumented: Required<Undocumented>;
};

export function settingsOf(options: SandboxOptions): Settings {
  const { undocumented, ...rest } = options;
  return {
    port: 0,
    seed: 1,
    orders: 5_000,
    rateLimit: 60,
    latencyMs: 0,
    live: false,
    pace: 1,
    now: undefined,
    wholeDays: false,
    rateHeaders: "x-ratelimit",
    retryAfter: "seconds",
    extra: false,
    errorBody: "nested",
    ...rest,
    undocumented: {
      paginated: true,
      strict: true,
      ids: "text",
      downloadPath: "short",
      revenue: "net",
      ...undocumented,
    },
  };
}
