import { isAbsolute, join, resolve } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";

/** The file of settings, and the folders of mirrors and of what is needed between runs (the rate budget). */
export interface Folders {
  configFile: string;
  data: string;
  state: string;
}

/** Everything that decides where the folders are. */
export type Surroundings = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/** For each folder: the XDG variable, the place in a Linux home, and that in a Windows home. */
const places = {
  config: ["XDG_CONFIG_HOME", ".config", "AppData/Roaming"],
  data: ["XDG_DATA_HOME", ".local/share", "AppData/Local"],
  state: ["XDG_STATE_HOME", ".local/state", "AppData/Local"],
} as const;

/** Returns the platform's folders for this program; `BRANDAPI_CONFIG_DIR` moves the settings. */
export function findFolders(deps: Surroundings): Folders {
  const own = deps.env.BRANDAPI_CONFIG_DIR;
  return {
    configFile: join(own ? expandPath(own, deps) : platformFolder("config", deps), "config.json"),
    data: platformFolder("data", deps),
    state: platformFolder("state", deps),
  };
}

/** Returns a path of a flag, the environment or the config file in full: `~/` is the home folder. */
export function expandPath(path: string, deps: Surroundings): string {
  if (path === "~" || path.startsWith("~/")) return join(homeFolder(deps), path.slice(1));
  return resolve(deps.cwd, path);
}

function platformFolder(kind: keyof typeof places, deps: Surroundings): string {
  const [variable, linux, windows] = places[kind];
  const xdg = deps.env[variable];
  // The XDG specification: a relative path is invalid and to be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "brandapi");
  const home = homeFolder(deps);
  if (deps.platform === "darwin") return join(home, "Library/Application Support/brandapi");
  return join(home, deps.platform === "win32" ? windows : linux, "brandapi");
}

function homeFolder({ home }: Surroundings): string {
  if (isAbsolute(home)) return home;
  throw new ConfigurationError("No home folder is known, so settings and mirrors have no place.", {
    hint: "set HOME to a folder that you may write",
  });
}
