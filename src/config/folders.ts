import { isAbsolute, join, resolve } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";

/** The folders of settings, of mirrors, and of what is needed between runs (the rate budget). */
export interface Folders {
  readonly config: string;
  readonly data: string;
  readonly state: string;
}

/** Everything that decides where the folders are. */
export type Surroundings = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/** For each folder: the XDG variable, the place in a Linux home, the Windows variable and its default. */
const places = {
  config: ["XDG_CONFIG_HOME", ".config", "APPDATA", "Roaming"],
  data: ["XDG_DATA_HOME", ".local/share", "LOCALAPPDATA", "Local"],
  state: ["XDG_STATE_HOME", ".local/state", "LOCALAPPDATA", "Local"],
} as const;

/**
 * Returns the platform's folders for this program; `BRANDAPI_CONFIG_DIR` moves the settings. Each is found when it is
 * used: without a home folder, whatever is named otherwise still works.
 */
export function findFolders(deps: Surroundings): Folders {
  const own = deps.env.BRANDAPI_CONFIG_DIR;
  return {
    get config() {
      return own ? expandPath(own, deps) : platformFolder("config", deps);
    },
    get data() {
      return platformFolder("data", deps);
    },
    get state() {
      return platformFolder("state", deps);
    },
  };
}

/** Returns a path of a flag, the environment or the config file in full: `~/` is the home folder. */
export function expandPath(path: string, deps: Surroundings): string {
  if (path === "~" || path.startsWith("~/")) return join(homeFolder(deps), path.slice(1));
  return resolve(deps.cwd, path);
}

function platformFolder(kind: keyof typeof places, deps: Surroundings): string {
  const [variable, linux, windows, windowsDefault] = places[kind];
  const xdg = deps.env[variable];
  // The XDG specification: a relative path is invalid and to be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "brandapi");
  if (deps.platform === "darwin") return join(homeFolder(deps), "Library", "Application Support", "brandapi");
  if (deps.platform === "win32")
    return join(deps.env[windows] || join(homeFolder(deps), "AppData", windowsDefault), "brandapi");
  return join(homeFolder(deps), linux, "brandapi");
}

function homeFolder({ home }: Surroundings): string {
  if (isAbsolute(home)) return home;
  throw new ConfigurationError("No home folder is known, so settings and mirrors have no place.", {
    hint: "set HOME, or BRANDAPI_CONFIG_DIR, BRANDAPI_DB and XDG_STATE_HOME",
  });
}
