import { checkBaseUrl } from "../config/base-url.js";
import { checkKey } from "../config/key.js";
import type { Deps } from "../deps.js";
import { ApiUnavailable, ConfigurationError, KeyRejected, UnexpectedAnswer } from "../errors.js";
import { openPrompt } from "../ui/prompt.js";

/** Where the API is, and the key. */
export interface Entry {
  baseUrl: string;
  key: string;
}

/** As much of it as is known. */
type Begun = { [Name in keyof Entry]?: string | undefined };

export interface AskOptions<Checked> {
  profile: string;
  /** What a flag or the profile gave: neither asked for nor asked for again. */
  given: Begun;
  /** Asks the API; throws where it does not take them. */
  check(entry: Entry): Promise<Checked>;
  /** Tells what was wrong with a try; left out, there is one. */
  tell: ((error: unknown) => void) | undefined;
}

/** So often is each of the two asked for. */
const mostTries = 3;

/**
 * Asks a person at the terminal for what is not given, the key unseen. What cannot be right, or is not what the API
 * takes, is told and asked for again.
 * @throws what was wrong with the last try, or is not for the person to mend here; Stopped on Ctrl-C
 */
export async function askAccess<Checked>(
  { profile, given, check, tell }: AskOptions<Checked>,
  deps: Deps,
): Promise<Entry & { checked: Checked }> {
  const prompt = openPrompt(deps);
  const entry: Begun = { ...given };
  const tries = { baseUrl: 0, key: 0 };
  try {
    for (;;) {
      try {
        entry.baseUrl ??= checkBaseUrl(
          await prompt.ask("Base URL (ends in /api/brand/v1): ", { hidden: false }),
          "the prompt",
        );
        entry.key ??= checkKey(
          await prompt.ask(`API key for the profile \`${profile}\` (not shown): `, { hidden: true }),
          "the prompt",
        );
        const { baseUrl, key } = entry;
        return { baseUrl, key, checked: await prompt.aside(() => check({ baseUrl, key })) };
      } catch (error) {
        const wrong = blame(error, entry);
        if (wrong === undefined || given[wrong] !== undefined || tell === undefined) throw error;
        tries[wrong] += 1;
        if (tries[wrong] === mostTries) throw error;
        entry[wrong] = undefined;
        tell(error);
      }
    }
  } finally {
    prompt.close();
  }
}

/** Which of the two an error speaks of. */
function blame(error: unknown, entry: Begun): keyof Entry | undefined {
  if (error instanceof ConfigurationError) return entry.baseUrl === undefined ? "baseUrl" : "key";
  if (error instanceof KeyRejected) return "key";
  // Nobody is there, or somebody else: a slip in the name.
  const isNobody = error instanceof ApiUnavailable && error.everywhere && error.status === undefined;
  return isNobody || error instanceof UnexpectedAnswer ? "baseUrl" : undefined;
}
