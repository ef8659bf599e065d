import type { ExitCode } from "../../src/errors.js";

/** The text for each exit code on the generated commands page. */
export const exitMeanings: Record<ExitCode, string> = {
  0: "done",
  1: "a bug in the program",
  2: "usage: an unknown option, resource or value",
  3: "configuration: no key or base URL, unsafe permissions, a wrong clock, or a mirror that is unreadable, damaged, from a newer version or of another brand",
  4: "401: the key is missing, unknown, expired or revoked",
  5: "403 or 402: the scope, the IP allowlist or the plan does not allow the request",
  6: "the API is still unavailable (network, 429, 5xx) after all retries",
  7: "a response does not match the API's documentation",
  8: "incomplete: only part of the work succeeded, `verify` found differences, or the API denied access to a resource that was synced before",
  9: "busy: another run is using this mirror",
  10: "stale: a resource is older than `status --max-age` allows, or the API denied access to it in the last sync",
  129: "stopped by SIGHUP (the terminal was closed)",
  130: "stopped by Ctrl-C (SIGINT)",
  143: "stopped by SIGTERM",
};
