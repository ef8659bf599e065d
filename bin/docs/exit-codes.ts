import type { ExitCode } from "../../src/errors.js";

/** What each exit code means, for the README. */
export const exitMeanings: Record<ExitCode, string> = {
  0: "done",
  1: "a defect in the program",
  2: "usage: an unknown flag, resource or value",
  3: "configuration: no key or base URL, unsafe permissions, mirror of another brand, unreadable or newer mirror",
  4: "401: the key is missing, unknown, expired or revoked",
  5: "403 or 402: scope, IP allowlist or plan",
  6: "the API stayed unavailable (network, 429, 5xx) after the retries",
  7: "the API answered with something that is not its documented shape",
  8: "incomplete: part of the work succeeded, or a resource that was read before is refused now",
  9: "busy: another run holds this mirror",
  10: "stale: a resource is older than `status --max-age` allows, or was refused by the last sync",
  129: "stopped by SIGHUP (its terminal was closed), cleanly",
  130: "stopped by Ctrl-C (SIGINT), cleanly",
  143: "stopped by SIGTERM, cleanly",
};
