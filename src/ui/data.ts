import type { Output } from "../deps.js";
import { unsafe } from "./text.js";

/**
 * Data for a terminal, in the shape in which a pipe gets it: line ends and tabs stay, and whatever else could act on a
 * terminal or hide there becomes `\u001b`. JSON reads that as the same text, so that what is copied from the screen
 * still is JSON.
 */
export function escapeData(text: string): string {
  if (/^[\x20-\x7e\n\t]*$/.test(text)) return text;
  return text.replace(unsafe, (kept: string, character: string | undefined, at: number) => {
    if (character === undefined || character === "\n" || character === "\t") return kept;
    return character === "\r" && text[at + 1] === "\n" ? kept : jsonEscape(character);
  });
}

/** `escapeData` for what comes in pieces: a character or a line end may be cut between two of them. */
export interface DataEscaper {
  piece(data: Uint8Array | string): string;
  /** What was held back. */
  end(): string;
}

export function openDataEscaper(): DataEscaper {
  // A byte order mark at the start is left out: a terminal has no use for it.
  const decoder = new TextDecoder();
  let held = "";
  return {
    piece(data) {
      const bytes = typeof data === "string" ? Buffer.from(data) : data;
      const text = held + decoder.decode(bytes, { stream: true });
      held = text.endsWith("\r") ? "\r" : "";
      return escapeData(held ? text.slice(0, -1) : text);
    },
    end: () => escapeData(held + decoder.decode()),
  };
}

/** A value as a line of JSON on stdout; a pipe gets it as it is. */
export function printJson(stdout: Output, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  stdout.write(stdout.isTTY ? escapeData(line) : line);
}

function jsonEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
