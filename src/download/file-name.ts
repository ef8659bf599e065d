import { createHash } from "node:crypto";
import { formatUtc, parseTimestampParts } from "../util/timestamps.js";
import type { LibraryFile } from "./library-download.js";
import { partSuffix } from "./partial-file.js";

export type NamedFile = Pick<LibraryFile, "source" | "id" | "filename" | "mimeType" | "createdAt">;

/**
 * The maximum length of a file name, including `.part`. File systems allow 255 bytes per name, and Windows allows 260
 * characters for the full path.
 */
const maxNameBytes = 200;
const maxIdBytes = 64;
/** The number of characters to keep at the start and end of a long file name. */
const [maxStart, maxEnd] = [900, 100];

/**
 * Returns a safe file name of the form `<date>_<id>_<name>`. The name always starts with a date or `undated`, so it
 * cannot be a hidden file, a flag or a Windows device. A hash is added if the ID contains unsafe characters or the name
 * is already taken.
 * @param taken the names of other files, as returned by `foldName`
 */
export function fileName(file: NamedFile, taken: ReadonlySet<string>): string {
  const id = sanitize(file.id, maxIdBytes);
  const name = joinName(file, id);
  if (id === file.id && !taken.has(foldName(name))) return name;
  const hash = createHash("sha256").update(`${file.source}\n${file.id}`).digest("hex").slice(0, 12);
  return joinName(file, `${id}-${hash}`);
}

/** Normalizes a name for comparison, because some file systems ignore case or Unicode normalization. */
export function foldName(name: string): string {
  return name.normalize("NFKD").toLowerCase().toUpperCase();
}

function joinName(file: NamedFile, id: string): string {
  const prefix = `${dayOf(file.createdAt)}_${id}_`;
  const maxBytes = maxNameBytes - Buffer.byteLength(prefix + partSuffix);
  return prefix + sanitize(file.filename ?? "", maxBytes, extensionOf(file.mimeType));
}

function dayOf(createdAt: string | null): string {
  const timestamp = parseTimestampParts(createdAt ?? "");
  return timestamp ? formatUtc(timestamp).slice(0, 10) : "undated";
}

/**
 * Matches path separators and characters that Windows reserves, including look-alikes that some code pages convert to
 * them.
 */
const reserved = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}<>:"/\\|?*＜＞：＂／＼｜？＊⁄∕⧵⧸﹨]+/gu;
/** Matches invisible characters: bidirectional controls, joiners, fillers and variation selectors. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** Returns a non-empty string that is safe in a file name. Long text is truncated before the extension. */
function sanitize(text: string, maxBytes: number, extension = ""): string {
  const short = text.length > maxStart + maxEnd ? text.slice(0, maxStart) + text.slice(-maxEnd) : text;
  const clean = short
    .replace(invisible, "")
    .replace(reserved, "_")
    .replace(/[\s\p{Z}]+/gu, " ")
    .replace(/_{2,}/g, "_")
    .normalize("NFC")
    .replace(/^[\s._~\-\p{M}]+/u, "");
  const name = trimEnd(clean);
  if (name === "") return `file${extension}`;
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const suffix = /\.[\p{L}\p{N}]{1,10}$/u.exec(name)?.[0] ?? "";
  const start = Buffer.from(name).toString("utf8", 0, maxBytes - Buffer.byteLength(suffix));
  // Remove U+FFFD, which is the result of decoding a character that was cut in half.
  const cut = start.replace(/\ufffd+$/, "");
  return trimEnd(cut) + suffix;
}

/** Removes trailing dots and spaces, which Windows would drop. */
function trimEnd(text: string): string {
  return text.replace(/[\s.]+$/u, "");
}

/** File extensions for MIME types whose subtype is not the usual extension. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["video/quicktime", "mov"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
]);

function extensionOf(mimeType: string | null): string {
  const [type = ""] = mimeType?.toLowerCase().split(/[ ;]/) ?? [];
  const extension =
    extensions.get(type) ?? /^(?:image|video|audio|application)\/([a-z0-9]{2,4})$/.exec(type)?.[1];
  return extension === undefined ? "" : `.${extension}`;
}
