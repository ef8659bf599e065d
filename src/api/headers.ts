import { ConfigurationError } from "../errors.js";

/**
 * Returns what every request carries (API document, "Authentication").
 * @throws ConfigurationError if the key cannot be in a header
 */
export function headersOf({ key, userAgent }: { key: string; userAgent: string }): Record<string, string> {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError(
      "The key holds characters that no key has, such as a space or a line break.",
      { hint: "store it again: `brandapi login`" },
    );
  return { authorization: `Bearer ${key}`, accept: "application/json", "user-agent": userAgent };
}
