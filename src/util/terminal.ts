import { Help } from "commander";
import * as kleur from "kleur/colors";
import stringWidth from "string-width";
import type { Deps, OutputStream } from "../deps.js";

export type Style = Readonly<
  Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>
>;

// Overrides kleur's own check, which covers only `process.stdout`. `createStyle` checks each stream instead.
kleur.$.enabled = true;

const { bold, dim, red, green, yellow, cyan } = kleur;
const colored: Style = { bold, dim, red, green, yellow, cyan };
const identity = (text: string): string => text;
const plain: Style = {
  bold: identity,
  dim: identity,
  red: identity,
  green: identity,
  yellow: identity,
  cyan: identity,
};

/** Returns the style for a stream. Only terminals get colors, unless `NO_COLOR` or `--no-color` is set. */
export function createStyle(
  stream: OutputStream,
  output: { color?: boolean | undefined },
  env: Deps["env"] = {},
): Style {
  const isDisabled = output.color === false || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return stream.isTTY && !isDisabled ? colored : plain;
}

/** Prints a value as a line of JSON. On a terminal, escapes control characters. */
export function printJson(stdout: OutputStream, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`;
  stdout.write(stdout.isTTY ? escapeData(line) : line);
}

/*
 * Text from the API, from servers and from files could control the terminal: move the cursor, change colors, or reorder
 * or hide text. The functions below replace such characters with visible escapes.
 */

/**
 * Matches control characters, lone surrogates, annotations, line and paragraph separators, and invisible characters
 * (bidirectional overrides, tags, fillers). Joiners and variation selectors are allowed, because emoji and many scripts
 * need them.
 */
const unsafe =
  /[\p{Cc}\p{Cs}\ufff9-\ufffb\p{Zl}\p{Zp}]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/gu;
const shortEscapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The maximum length of a printed string. Without a limit, the API could fill the screen with a very long string. */
const maxLength = 2_000;

/**
 * Replaces control characters and invisible characters with escapes such as `\u001b`. Truncates the string to 2,000
 * characters.
 */
export function escapeText(text: string): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return short.replace(unsafe, (character) => shortEscapes[character] ?? escapeUnits(character));
}

export function escapeLines(text: string): string {
  return text.split("\n").map(escapeText).join("\n  ");
}

/**
 * Like `escapeText`, but does not truncate, and does not escape line breaks and tabs. JSON parsers decode the escapes
 * to the original string.
 */
export function escapeData(text: string): string {
  return text.replace(unsafe, (character, index: number) => {
    const isWhitespace =
      character === "\n" || character === "\t" || (character === "\r" && text[index + 1] === "\n");
    return isWhitespace ? character : escapeUnits(character);
  });
}

function escapeUnits(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}

const ascii = /^[\x20-\x7e]*$/;

const minWrapWidth = 20;

/**
 * Returns the terminal's width in columns, or undefined if the stream is not a terminal or its width is unknown (0).
 */
export function terminalWidth({
  columns,
  isTTY,
}: Pick<OutputStream, "columns" | "isTTY">): number | undefined {
  return isTTY && columns ? columns : undefined;
}

/**
 * Returns the width of a string in columns. CJK characters and emoji take up two columns, and combining marks take up
 * none.
 */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  return stringWidth(text);
}

export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let columnsLeft = width - 1;
  const end = graphemes(text).findIndex((grapheme) => {
    columnsLeft -= displayWidth(grapheme);
    return columnsLeft < 0;
  });
  return width < 1 ? "" : `${graphemes(text).slice(0, end).join("")}…`;
}

export function truncateStart(text: string, width: number): string {
  const reverse = (string: string) => graphemes(string).reverse().join("");
  return displayWidth(text) <= width ? text : reverse(truncate(reverse(text), width));
}

export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? blanks + text : text + blanks;
}

export function wrap(text: string, width: number): string {
  return Object.assign(new Help(), { minWidthToWrap: minWrapWidth }).boxWrap(text, width);
}

/**
 * Wraps a string to the terminal width and indents its continuation lines.
 * @param width undefined if the output is not a terminal
 */
export function wrapIndented(text: string, width: number | undefined, indentation: number): string {
  if (width === undefined) return text;
  return wrap(text, width - indentation).replaceAll("\n", `\n${" ".repeat(indentation)}`);
}

/**
 * Wraps each line that is wider than the terminal, and indents its continuation by two spaces.
 * @param width undefined if the output is not a terminal
 */
export function wrapLines(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text
    .split("\n")
    .map((line) => (displayWidth(line) <= width ? line : wrapIndented(line, width, 2)))
    .join("\n");
}

let segmenter: Intl.Segmenter | undefined;

/** Creates the segmenter on first use, because creating it takes ten milliseconds. */
function graphemes(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
