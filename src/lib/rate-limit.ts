import { type BrandapiError, type ErrorOptions, UsageError } from "../errors.js";

/**
 * Parses requests a minute, or `none`.
 * @param Failure the class of the error: a flag's, if it is not the environment's
 */
export function parseRateLimit(
  text: string,
  Failure: new (message: string, options: ErrorOptions) => BrandapiError = UsageError,
): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new Failure(`The rate limit is not a number of requests a minute: \`${text}\`.`, {
    hint: "use a whole number such as 60, or `none`",
  });
}
