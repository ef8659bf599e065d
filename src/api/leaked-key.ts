/** A key is longer than this. A shorter text could stand in an answer by chance. */
const shortest = 8;
const backslash = 0x5c;
const letterU = 0x75;

/**
 * Whether an answer holds the key. Of an answer nothing but its body is kept: its headers are read for numbers alone.
 * @param body JSON
 * @param isEscaped whether some character of ASCII is written by its number
 */
export function leaksKey(body: Buffer, key: string, isEscaped: boolean): boolean {
  if (key.length < shortest) return false;
  if (body.includes(key)) return true;
  return (isEscaped || /["\\/]/.test(key)) && holdsEscaped(body, Buffer.from(key));
}

/** One pass, whatever the text: the search of Knuth, Morris and Pratt, over characters as JSON means them. */
function holdsEscaped(body: Buffer, key: Buffer): boolean {
  const shorter = prefixes(key);
  let found = 0;
  for (let at = 0; at < body.length; at += 1) {
    let code = body[at] ?? 0;
    if (code === backslash) {
      at += 1;
      // Any other escape stands for itself, or for a control character, which no key has.
      code = body[at] ?? 0;
      if (code === letterU) {
        code = [1, 2, 3, 4].reduce((sum, next) => sum * 16 + digitOf(body[at + next] ?? 0), 0);
        at += 4;
      } else if (code > 0x5c) code = 0;
    }
    while (found > 0 && code !== key[found]) found = shorter[found - 1] ?? 0;
    if (code === key[found]) found += 1;
    if (found === key.length) return true;
  }
  return false;
}

/** A hexadecimal digit's value, by its byte. */
function digitOf(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
}

/** For each beginning of a text, how much of its end is a beginning too. */
function prefixes(text: Buffer): number[] {
  const lengths = [0];
  let length = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (length > 0 && text[at] !== text[length]) length = lengths[length - 1] ?? 0;
    if (text[at] === text[length]) length += 1;
    lengths.push(length);
  }
  return lengths;
}
