import { ConfigurationError, UsageError } from "../errors.js";

/** True for 127.0.0.0/8, ::1 and localhost, which never leave this machine. @param hostname as a URL spells it */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Parses requests a minute, or `none`. @param variable the environment's, if it is not of a flag */
export function parseRateLimit(text: string, variable?: string): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  const Failure = variable === undefined ? UsageError : ConfigurationError;
  throw new Failure(`${variable ?? "The rate limit"} is not a number of requests a minute: \`${text}\`.`, {
    hint: "use a whole number such as 60, or `none`",
  });
}
