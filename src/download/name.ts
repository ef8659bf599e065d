import { createHash } from "node:crypto";
import { formatInstant, parseTimestamp } from "../lib/times.js";

/** What a file's name is made of: fields of a content item, as the API sent them. */
export interface Nameable {
  source: string;
  id: string;
  filename: string | null;
  mimeType: string | null;
  createdAt: string | null;
}

/** What an unfinished file's name ends in. */
export const partSuffix = ".part";

/** Most bytes of a name in UTF-8, `.part` included: file systems end at 255, Windows' whole paths at 260 characters. */
const mostBytes = 200;
const mostIdBytes = 64;

/**
 * `<date>_<id>_<name>`: a name for every common file system, whatever the API sent. It starts with the date or
 * `undated`, so it is never hidden, a flag, or a device of Windows; it holds no separator, so it stays in its folder.
 * Where sanitising changed the id, or the name is taken, a digest of source and id tells the files apart.
 * @param taken the folded names of other files (see `foldName`)
 */
export function fileName(file: Nameable, taken: ReadonlySet<string>): string {
  const id = sanitise(file.id, mostIdBytes);
  const digest = createHash("sha256").update(`${file.source}\n${file.id}`).digest("hex").slice(0, 12);
  const marks = id === file.id ? ["", `-${digest}`] : [`-${digest}`];
  for (const mark of marks) {
    const name = assemble(file, id + mark);
    if (!taken.has(foldName(name))) return name;
  }
  for (let count = 2; ; count += 1) {
    const name = assemble(file, `${id}-${digest}-${count}`);
    if (!taken.has(foldName(name))) return name;
  }
}

/** What two names have in common that some file system takes for the same: case, and how letters are composed. */
export function foldName(name: string): string {
  return name.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
}

function assemble(file: Nameable, id: string): string {
  const prefix = `${dayOf(file.createdAt)}_${id}_`;
  const room = mostBytes - Buffer.byteLength(prefix + partSuffix);
  return prefix + sanitise(file.filename ?? "", room, extensionOf(file.mimeType));
}

/** The UTC day that the file was added. */
function dayOf(createdAt: string | null): string {
  const ms = createdAt === null ? undefined : parseTimestamp(createdAt);
  const day = ms === undefined ? "" : formatInstant(ms).slice(0, 10);
  return /^\d{4}-\d\d-\d\d$/.test(day) ? day : "undated";
}

/** Separators and what Windows reserves, with the look-alikes that some code page turns into them. */
const reserved = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}<>:"/\\|?*＜＞：＂／＼｜？＊⁄∕⧵⧸﹨]+/gu;
/** Invisible: bidirectional controls, joiners, fillers, variation selectors. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** Text as a part of a file name, at most `room` bytes long; a short extension outlives the cut. Never empty. */
function sanitise(text: string, room: number, extension = ""): string {
  const clean = bothEnds(text)
    .normalize("NFC")
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
  const stem = whole.slice(0, whole.length - kept.length);
  return trimEnd(cut(stem, room - Buffer.byteLength(kept))) + kept;
}

/** More than a name has room for, and still little: a host can make it a million letters long. */
const [atTheStart, atTheEnd] = [900, 100];

/** A long text without its middle, before anything is done with it: its extension is at its end. */
function bothEnds(text: string): string {
  if (text.length <= atTheStart + atTheEnd) return text;
  return text.slice(0, atTheStart) + text.slice(-atTheEnd);
}

/** Windows drops dots and spaces from a name's end. */
function trimEnd(text: string): string {
  return text.replace(/[\s.]+$/u, "");
}

/** As many whole characters as fit. */
function cut(text: string, room: number): string {
  let bytes = 0;
  let kept = "";
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    kept += character;
  }
  return kept;
}

const extensions: Readonly<Record<string, string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
  "image/gif": ".gif",
  "image/heic": ".heic",
  "video/mp4": ".mp4",
  "video/quicktime": ".mov",
  "video/webm": ".webm",
  "audio/mpeg": ".mp3",
  "audio/mp4": ".m4a",
  "audio/wav": ".wav",
  "application/pdf": ".pdf",
  "application/zip": ".zip",
};

/** For files that came without a name. */
function extensionOf(mimeType: string | null): string {
  const known = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return Object.hasOwn(extensions, known) ? (extensions[known] ?? "") : "";
}
