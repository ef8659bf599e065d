import { keyOf } from "./access.js";
import type { Brand } from "./brand.js";
import { type Doubts, documented } from "./doubts.js";
import type { Answer, ApiRequest } from "./endpoint.js";
import { answerFile } from "./files.js";
import { answer } from "./handler.js";
import { createLimits } from "./limits.js";

export interface ApiOptions {
  /** Each with keys of its own; the first is the one that requests without a known key meet. */
  brands: readonly Brand[];
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never jumps, for the limits. Default: `now`. */
  monotonic?(): number;
  /** Requests a minute for a key, twice that for an address; null, the default: none. */
  rateLimit?: number | null;
  doubts?: Partial<Doubts>;
}

/** The API of some brands: what it remembers are the limits. */
export interface Api {
  brands: readonly Brand[];
  doubts: Partial<Doubts>;
  filesUrl: string;
  answer(request: ApiRequest): Answer;
  answerFile(request: ApiRequest): Answer<Buffer>;
}

export function createApi(options: ApiOptions): Api {
  const { now, monotonic = now, brands } = options;
  const count = createLimits(options.rateLimit ?? null);
  const api: Api = {
    brands,
    doubts: options.doubts ?? {},
    filesUrl: "https://files.brand.test",
    answer(request) {
      const brand = brands.find((one) => keyOf(request, one)) ?? (brands[0] as Brand);
      const limits = count(request.address, keyOf(request, brand)?.id ?? null, monotonic());
      const doubts = { ...documented, ...api.doubts };
      return answer(request, brand, now(), { doubts, filesUrl: api.filesUrl, limits });
    },
    answerFile(request) {
      const answers = brands.map((brand) => answerFile(request, brand, now()));
      return answers.find(({ status }) => status < 400) ?? (answers[0] as Answer<Buffer>);
    },
  };
  return api;
}
