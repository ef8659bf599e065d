/** Returns undefined if the text is not JSON: the engine's own message quotes the text, which may hold a key. */
export function parseJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
