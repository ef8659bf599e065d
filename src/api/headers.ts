import { ConfigurationError } from "../errors.js";

/**
 * What every request carries (the API document, "Authentication").
 * @throws ConfigurationError for a key that cannot be a header: `fetch` would quote it in its own error
 */
export function headersOf({ key, userAgent }: { key: string; userAgent: string }): Record<string, string> {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError(
      "The key holds characters that no key has, such as a space or a line break.",
      { hint: "store it again: `brandapi login`" },
    );
  return { authorization: `Bearer ${key}`, accept: "application/json", "user-agent": userAgent };
}
