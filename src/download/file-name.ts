import { createHash } from "node:crypto";
import { formatUtc, readTimestamp } from "../util/timestamp.js";
import type { LibraryFile } from "./library-files.js";

/** The properties of a file that determine its name. */
export type NamedFile = Pick<LibraryFile, "source" | "id" | "filename" | "mimeType" | "createdAt">;

/** Suffix of an incomplete file. */
export const partSuffix = ".part";
/** Suffix of the file that stores an incomplete file's version. This suffix must not be longer than `partSuffix`. */
export const versionSuffix = ".etag";

/**
 * Maximum number of UTF-8 bytes in a name, including `.part`. File systems allow 255 bytes, and Windows allows 260
 * characters for the full path.
 */
const maxNameBytes = 200;
const maxIdBytes = 64;
/** Numbers of characters that are kept from the start and from the end of a file name that is too long. */
const [maxStart, maxEnd] = [900, 100];

/**
 * Returns a file name of the form `<date>_<id>_<name>`, which is safe on all common file systems. The name starts with
 * the date or `undated`, so it is never a hidden file, a flag or a Windows device. It contains no path separators. If
 * the ID contains unsafe characters or the name is taken, a hash of the source and the ID makes the name unique.
 * @param taken the names of other files, as returned by `foldName`
 */
export function fileName(file: NamedFile, taken: ReadonlySet<string>): string {
  const id = sanitize(file.id, maxIdBytes);
  const name = joinName(file, id);
  if (id === file.id && !taken.has(foldName(name))) return name;
  const hash = createHash("sha256").update(`${file.source}\n${file.id}`).digest("hex").slice(0, 12);
  return joinName(file, `${id}-${hash}`);
}

/** Normalizes a name for comparison, because some file systems ignore differences in case or Unicode normalization. */
export function foldName(name: string): string {
  return name.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
}

function joinName(file: NamedFile, id: string): string {
  const prefix = `${dayOf(file.createdAt)}_${id}_`;
  const maxBytes = maxNameBytes - Buffer.byteLength(prefix + partSuffix);
  return prefix + sanitize(file.filename ?? "", maxBytes, extensionOf(file.mimeType));
}

/** Returns the UTC day on which a file was added, or `undated`. */
function dayOf(createdAt: string | null): string {
  const timestamp = readTimestamp(createdAt ?? "");
  return timestamp ? formatUtc(timestamp).slice(0, 10) : "undated";
}

/** Path separators and characters reserved by Windows, including look-alikes that some code pages convert to them. */
const reserved = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}<>:"/\\|?*＜＞：＂／＼｜？＊⁄∕⧵⧸﹨]+/gu;
/** Bidirectional controls, joiners, fillers and variation selectors. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * Returns a string that is safe in a file name, truncated to `maxBytes` but keeping a short extension. Never returns an
 * empty string.
 */
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
  const stem = Buffer.from(name.slice(0, name.length - suffix.length));
  // A truncated character is decoded as U+FFFD.
  const cut = stem.toString("utf8", 0, maxBytes - Buffer.byteLength(suffix)).replace(/\ufffd+$/, "");
  return trimEnd(cut) + suffix;
}

/** Removes trailing dots and spaces, which Windows would drop. */
function trimEnd(text: string): string {
  return text.replace(/[\s.]+$/u, "");
}

/** MIME types whose subtype differs from the usual file extension. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["video/quicktime", "mov"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
]);

/** Returns an extension for a file without a name. */
function extensionOf(mimeType: string | null): string {
  const [type = ""] = mimeType?.toLowerCase().split(/[ ;]/) ?? [];
  const extension =
    extensions.get(type) ?? /^(?:image|video|audio|application)\/([a-z0-9]{2,4})$/.exec(type)?.[1];
  return extension === undefined ? "" : `.${extension}`;
}
