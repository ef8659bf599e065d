import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { configFile } from "../config/profiles.js";
import { requireAccess } from "../config/settings.js";
import { shellWord } from "../lib/shell.js";
import { Advice, type Check, found, ok } from "./check.js";

/** Base URL and key, and who may read the file that holds them. */
export const settings: Check = {
  name: "settings",
  async *run({ deps, options, settings }) {
    const all = await settings();
    const loose = deps.platform !== "win32" && (await isLooseFolder(all.configDir));
    if (loose)
      yield found(
        new Advice(
          `Other users of this machine may look into the folder of the settings: ${all.configDir}.`,
          {
            hint: `run \`chmod 700 ${shellWord(all.configDir)}\``,
          },
        ),
      );
    const { baseUrl } = requireAccess(all);
    const ofKey = options.keyFile ?? (deps.env.BRANDAPI_KEY ? "BRANDAPI_KEY" : configFile(all.configDir));
    yield ok(`profile \`${all.profile}\`: ${baseUrl}, the key from ${ofKey}`);
  },
};

/** Whether others may enter a folder of this user's; one that is not there, or not theirs to mend, is no matter. */
async function isLooseFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === userInfo().uid && (found.mode & 0o077) !== 0;
}
