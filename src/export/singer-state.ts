import { ConfigurationError } from "../errors.js";
import { codeOf, reasonOf } from "../lib/failures.js";
import { parseJson } from "../lib/parse-json.js";
import { readText } from "../lib/read-text.js";
import { shellWord } from "../lib/shell.js";
import type { Bookmarks } from "./format.js";

/**
 * Reads the state that a Singer target returned: the value of the last STATE message that it has stored. `{}` is the state
 * before the first export. Like other taps, this one never writes the file.
 * @param path absolute
 * @throws ConfigurationError for a missing or empty file, as other taps do: it usually means that the last run failed, and
 * an export of everything would hide that
 */
export function readSingerState(path: string): Bookmarks {
  const state = parseJson<unknown>(readState(path));
  if (!isObject(state)) throw notAState(path);
  const { bookmarks = {} } = state;
  if (!isObject(bookmarks) || !isBookmarks(bookmarks)) throw notAState(path);
  return bookmarks;
}

function readState(path: string): string {
  try {
    const text = readText(path);
    if (text.trim() !== "") return text;
  } catch (cause) {
    if (codeOf(cause) === "ENOENT")
      throw new ConfigurationError(`The state file does not exist: ${path}`, {
        hint: startHint(path),
        cause,
      });
    throw new ConfigurationError(`The state file cannot be read, ${reasonOf(cause)}: ${path}`, {
      hint: "name the file that holds the last line of the target's output",
      cause,
    });
  }
  throw new ConfigurationError(`The state file is empty: ${path}`, { hint: startHint(path) });
}

const startHint = (path: string) =>
  `to send everything, start with an empty state: echo '{}' > ${shellWord(path)}`;

function notAState(path: string): ConfigurationError {
  return new ConfigurationError(`The file is no state of \`brandapi export --singer\`: ${path}`, {
    hint: "keep the last line that the target prints; without `--state` everything is sent",
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBookmarks(value: Record<string, unknown>): value is Bookmarks {
  return Object.values(value).every((bookmark) => {
    if (!isObject(bookmark)) return false;
    const { columns, run, record_id: record, version_id: version } = bookmark;
    const isNumbered = Number.isSafeInteger(record) && Number.isSafeInteger(version);
    return typeof columns === "string" && typeof run === "string" && isNumbered;
  });
}
