import type { Fault } from "../api/index.js";
import { readRetryAfter } from "../api/index.js";

/**
 * What one request to the file host came to.
 * - complete: the whole file is there
 * - expired:  the URL is no longer good
 * - restart:  what is there already cannot be continued
 * - mismatch: the file does not have the size that it should have
 * - fault:    it may pass: a reset, a 5xx
 * - refused:  trying again cannot help
 */
export type Transfer =
  | { kind: "complete" }
  | { kind: "expired" | "restart" | "mismatch" | "refused"; reason: string }
  | { kind: "fault"; fault: Fault };

/** A body worth reading. */
export interface Body {
  kind: "body";
  /** Whether it goes on where the part ends; otherwise it is the file from its first byte. */
  continues: boolean;
  /** The length of the whole file; null where neither the API nor the file host says. */
  total: number | null;
  /** The version of the file, for `If-Range`; null where the file host names none. */
  validator: string | null;
}

/** What was asked for. */
export interface Wanted {
  /** The first byte asked for; 0 for the whole file. */
  from: number;
  /** `file_size_bytes`; null where the API does not say. */
  size: number | null;
  /** The version that the part is of. */
  validator: string | null;
}

/** It is kept in the mirror and sent back: no server needs more. */
const longestValidator = 256;

/** Decides by status and headers alone what a file host's answer is good for. `now`: milliseconds, wall clock. */
export function judge(
  answer: { status: number; headers: Headers },
  wanted: Wanted,
  now: number,
): Transfer | Body {
  const { status, headers } = answer;
  if (status === 200) return whole(headers, wanted);
  if (status === 206) return continued(headers, wanted);
  if (status === 416) return { kind: "restart", reason: "the file host cannot continue it (416)" };
  if (status === 401 || status === 403 || status === 410)
    return { kind: "expired", reason: `the file host refuses the download URL (${status})` };
  if (status >= 300 && status < 400)
    return { kind: "refused", reason: `the file host redirects it (${status}); redirects are not followed` };
  if (status === 404) return { kind: "refused", reason: "the file host does not have it (404)" };
  const reason = `the file host answered ${status}`;
  if (status === 408 || status === 429 || status >= 500)
    return {
      kind: "fault",
      fault: { kind: "status", status, reason, retryAfterMs: readRetryAfter(headers, now) },
    };
  return { kind: "refused", reason };
}

function whole(headers: Headers, { size }: Wanted): Transfer | Body {
  const length = isEncoded(headers) ? null : lengthIn(headers.get("content-length"));
  if (size !== null && length !== null && length !== size) return wrongSize(size, length);
  return { kind: "body", continues: false, total: size ?? length, validator: validatorIn(headers) };
}

function continued(headers: Headers, { from, size, validator }: Wanted): Transfer | Body {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range")?.trim() ?? "");
  if (!range || from === 0 || Number(range[1]) !== from || isEncoded(headers))
    return { kind: "restart", reason: "the file host sent another part than was asked for" };
  const total = range[2] === "*" ? null : Number(range[2]);
  if (size !== null && total !== null && total !== size) return wrongSize(size, total);
  const etag = headers.get("etag");
  if (validator?.startsWith('"') && etag?.startsWith('"') && etag !== validator)
    return { kind: "restart", reason: "the file has changed" };
  return { kind: "body", continues: true, total: size ?? total, validator };
}

export function wrongSize(size: number, found: number): Transfer {
  return { kind: "mismatch", reason: `the file host sends ${found} bytes, the library says ${size}` };
}

/** fetch unpacks such a body: the lengths in its headers are of something else. */
function isEncoded(headers: Headers): boolean {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  return encoding !== "" && encoding !== "identity";
}

function lengthIn(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}

/** RFC 9110, 13.1.5: only a strong validator may stand in `If-Range`. */
function validatorIn(headers: Headers): string | null {
  if (isEncoded(headers)) return null;
  const named = headers.get("etag") ?? headers.get("last-modified");
  const isWeak = named?.startsWith("W/") ?? true;
  return isWeak || named === null || named.length > longestValidator ? null : named;
}
