import { ConfigurationError, UsageError } from "../errors.js";

/** Parses requests a minute, or `none`. @param variable the environment's, if it is not of a flag */
export function parseRateLimit(text: string, variable?: string): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  const Failure = variable === undefined ? UsageError : ConfigurationError;
  throw new Failure(`${variable ?? "The rate limit"} is not a number of requests a minute: \`${text}\`.`, {
    hint: "use a whole number such as 60, or `none`",
  });
}
