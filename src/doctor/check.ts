import type { GlobalOptions } from "../config/options.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { BrandapiError, type ExitCode, exitCodes } from "../errors.js";
import { hideKeys } from "../lib/secrets.js";
import type { Mirror } from "../mirror/index.js";

/** One thing that `doctor` looks at: a file of its own, and a line in `index.ts`. */
export interface Check {
  /** One word: it begins the check's lines. */
  name: string;
  /** Yields a finding a line. What it throws ends it, and is a finding too. */
  run(examined: Examined): AsyncIterable<Finding>;
}

/**
 * What the checks look at. Each part is made when it is first asked for, and is the same for all of them; so is the
 * error where it cannot be made: the first check tells it, and those after it point to that.
 */
export interface Examined {
  deps: Deps;
  /** The flags of the command line. */
  options: GlobalOptions;
  settings(): Promise<Settings>;
  /** The mirror's path, which may be known where other settings are not as they should be. */
  dbPath(): Promise<string>;
  /** The mirror of this version, for reading. @throws Advice where there is none yet, or it is of an older version */
  mirror(): Promise<Mirror>;
  /** What `/me` answers: one request, however many checks ask. */
  me(): Promise<Me>;
  /** How far the API's clock is before this machine's, in milliseconds; null until it has answered with a date. */
  clockOffset(): number | null;
}

export interface Me {
  brand: { id: string; name: string };
  key: { scopes: readonly string[]; expires_at: string | null };
  /** Milliseconds from asking to the answer. */
  tookMs: number;
}

/** `warning` asks for something to be done, and fails nothing; `unchecked` is what could not be looked at. */
export interface Finding {
  state: "ok" | "warning" | "failed" | "unchecked";
  text: string;
  /** What mends it. */
  hint: string | null;
  /** What `doctor` ends with, where this is the first that failed. */
  exit_code: ExitCode;
}

/** Something to be done before it is trouble: a warning. */
export class Advice extends BrandapiError {
  override readonly exitCode = exitCodes.done;
  override readonly code = "advice";
}

export function ok(text: string): Finding {
  return { state: "ok", text, hint: null, exit_code: exitCodes.done };
}

export function unchecked(text: string): Finding {
  return { state: "unchecked", text, hint: null, exit_code: exitCodes.done };
}

export function found({ exitCode, hint, message }: BrandapiError): Finding {
  const state = exitCode === exitCodes.done ? "warning" : "failed";
  // What somebody typed may be in it: as with any error, what looks like a key is not printed back.
  return { state, text: hideKeys(message), hint: hint ? hideKeys(hint) : null, exit_code: exitCode };
}
