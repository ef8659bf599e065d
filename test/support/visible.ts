/** Formats a value for a test title. Escapes control characters, invisible characters and combining accents. */
export function visible(value: unknown): string {
  if (typeof value !== "string") return String(value);
  if (value === "") return "an empty string";
  return JSON.stringify(value).replace(
    /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[\u0300-\u036f]/gu,
    (character) => {
      const hex = (character.codePointAt(0) ?? 0).toString(16);
      return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
    },
  );
}
