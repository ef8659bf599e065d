import { createHash } from "node:crypto";
import { formatUtc, readTimestamp } from "../util/timestamp.js";
import type { LibraryFile } from "./library-files.js";

/** The parts of a file's name. */
export type Nameable = Omit<LibraryFile, "size" | "sinceAt">;

/** Ending of an incomplete file's name. */
export const partSuffix = ".part";
/** Ending of the name of the file that records an incomplete file's version; no longer than `partSuffix`. */
export const versionSuffix = ".etag";

/** Bytes of a name in UTF-8, `.part` included: file systems end at 255, Windows' whole paths at 260 characters. */
const mostBytes = 200;
const mostIdBytes = 64;
/** Letters of a file name that are looked at: at its start, and at its end, where its extension is. */
const [atStart, atEnd] = [900, 100];

/**
 * Returns `<date>_<id>_<name>`: a name for every common file system, whatever the API sent. It begins with the date or
 * `undated`, and therefore is never hidden, a flag, or a device of Windows; it holds no separator, and therefore stays in
 * its folder. If the id had to be changed, or the name is taken, a digest of source and id makes it unique.
 * @param taken the folded names of other files (see `foldName`)
 */
export function fileName(file: Nameable, taken: ReadonlySet<string>): string {
  const id = sanitise(file.id, mostIdBytes);
  const plain = assemble(file, id);
  if (id === file.id && !taken.has(foldName(plain))) return plain;
  const digest = createHash("sha256").update(`${file.source}\n${file.id}`).digest("hex").slice(0, 12);
  return assemble(file, `${id}-${digest}`);
}

/** Returns the form in which a file system that ignores case, or how letters are composed, compares names. */
export function foldName(name: string): string {
  return name.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
}

function assemble(file: Nameable, id: string): string {
  const prefix = `${dayOf(file.createdAt)}_${id}_`;
  const room = mostBytes - Buffer.byteLength(prefix + partSuffix);
  return prefix + sanitise(file.filename ?? "", room, extensionOf(file.mimeType));
}

/** Returns the UTC day on which the file was added. */
function dayOf(createdAt: string | null): string {
  const timestamp = readTimestamp(createdAt ?? "");
  return timestamp ? formatUtc(timestamp).slice(0, 10) : "undated";
}

/** Separators and what Windows reserves, with the look-alikes that some code page turns into them. */
const reserved = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}<>:"/\\|?*＜＞：＂／＼｜？＊⁄∕⧵⧸﹨]+/gu;
/** Invisible: bidirectional controls, joiners, fillers, variation selectors. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** Returns text as a part of a file name, at most `room` bytes long; a short extension outlives the cut. Never empty. */
function sanitise(text: string, room: number, extension = ""): string {
  const short = text.length > atStart + atEnd ? text.slice(0, atStart) + text.slice(-atEnd) : text;
  const clean = short
    .replace(invisible, "")
    .replace(reserved, "_")
    .replace(/[\s\p{Z}]+/gu, " ")
    .replace(/_{2,}/g, "_")
    .normalize("NFC")
    .replace(/^[\s._~\-\p{M}]+/u, "");
  const whole = trimEnd(clean);
  if (whole === "") return `file${extension}`;
  if (Buffer.byteLength(whole) <= room) return whole;
  const kept = /\.[\p{L}\p{N}]{1,10}$/u.exec(whole)?.[0] ?? "";
  const stem = Buffer.from(whole.slice(0, whole.length - kept.length));
  // A character that was cut in two decodes to U+FFFD.
  const cut = stem.toString("utf8", 0, room - Buffer.byteLength(kept)).replace(/\ufffd+$/, "");
  return trimEnd(cut) + kept;
}

/** Windows drops dots and spaces from a name's end. */
function trimEnd(text: string): string {
  return text.replace(/[\s.]+$/u, "");
}

/** The types whose extension is not their own name. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["video/quicktime", "mov"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
]);

/** Returns the extension of a file that came without a name. */
function extensionOf(mimeType: string | null): string {
  const [type = ""] = mimeType?.toLowerCase().split(/[ ;]/) ?? [];
  const extension =
    extensions.get(type) ?? /^(?:image|video|audio|application)\/([a-z0-9]{2,4})$/.exec(type)?.[1];
  return extension === undefined ? "" : `.${extension}`;
}
