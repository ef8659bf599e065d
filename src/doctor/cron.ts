import { commandFor, readSettings, type Settings } from "../config/settings.js";
import { Advice, type Check, ok } from "./check.js";

/** What a shell may have and a cron job has not, as far as this program goes by it. */
const ofShell = /^(BRANDAPI_\w+|XDG_(CONFIG|DATA|STATE)_HOME|https_proxy|no_proxy|node_extra_ca_certs)$/i;

/** What a cron job would find: no variable of this shell, and the home folder of the system's list of users. */
export const cron: Check = {
  name: "cron",
  async *run({ deps, options, settings }) {
    const here = await settings();
    const { home } = deps.machine;
    const there = await readSettings(options, { ...deps, env: {}, home, cwd: home });
    const set = Object.keys(deps.env).filter((name) => deps.env[name] && ofShell.test(name));
    if (home !== deps.home) set.push("HOME");
    const lost = differing(here, there);
    const what = lost.length > 0 ? `have ${lost.join(", ")}` : "go another way to the API";
    const why = set.length > 0 ? `these are of this shell alone: ${set.join(", ")}` : "a path is relative";
    // Where they are stored, and only HOME leads elsewhere, storing them again is no help.
    const isStored = !set.some((name) => name === "BRANDAPI_KEY" || name === "BRANDAPI_BASE_URL");
    const store = isStored ? "" : `store key and base URL with \`${commandFor("login", here.profile)}\`; `;
    if (lost.length > 0 || set.some((name) => /^(https|no|node)_/i.test(name)))
      throw new Advice(`A cron job would ${what}: ${why}.`, {
        hint: `${store}the lines that \`brandapi cron\` prints carry ${isStored ? "it" : "the rest"}`,
      });
    yield ok("a job finds the same settings: `brandapi cron` prints its lines");
  },
};

/** What differs, in words; never a value: one of them is the key. */
function differing(here: Settings, there: Settings): string[] {
  const names: [name: string, part: keyof Settings][] = [
    ["profile", "profile"],
    ["base URL", "baseUrl"],
    ["key", "key"],
    ["mirror", "dbPath"],
    ["rate limit", "rateLimit"],
    ["request budget", "stateDir"],
  ];
  return names
    .filter(([, part]) => here[part] !== there[part])
    .map(([name, part]) => `${there[part] === undefined ? "no" : "another"} ${name}`);
}
