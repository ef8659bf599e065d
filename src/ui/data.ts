import type { Output } from "../deps.js";
import { unsafe } from "./text.js";

/**
 * Returns data for a terminal: line ends and tabs stay, and whatever else could act on a terminal or hide there becomes
 * `\u001b`, which JSON reads as the same text.
 */
export function escapeData(text: string): string {
  if (/^[\x20-\x7e\n\t]*$/.test(text)) return text;
  return text.replace(unsafe, (kept: string, character: string | undefined, at: number) => {
    if (character === undefined || character === "\n" || character === "\t") return kept;
    return character === "\r" && text[at + 1] === "\n" ? kept : jsonEscape(character);
  });
}

/** Opens `escapeData` for pieces: a character or a line end may be cut between two; `end` returns what was held back. */
export function openDataEscaper() {
  const decoder = new TextDecoder();
  let held = "";
  return {
    piece(data: Uint8Array | string): string {
      const text =
        held + decoder.decode(typeof data === "string" ? Buffer.from(data) : data, { stream: true });
      held = text.endsWith("\r") ? "\r" : "";
      return escapeData(held ? text.slice(0, -1) : text);
    },
    end: (): string => escapeData(held + decoder.decode()),
  };
}

/** Prints a value as a line of JSON; a pipe gets it as it is. */
export function printJson(stdout: Output, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  stdout.write(stdout.isTTY ? escapeData(line) : line);
}

function jsonEscape(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
