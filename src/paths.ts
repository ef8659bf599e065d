import { isAbsolute, join, resolve } from "node:path";
import type { Deps } from "./deps.js";
import { ConfigurationError } from "./errors.js";

/** Where the program keeps its files: settings, mirrors, and what it needs between runs (the rate budget). */
export interface Folders {
  config: string;
  data: string;
  state: string;
}

const kinds = {
  config: { variable: "XDG_CONFIG_HOME", linux: ".config", windows: "APPDATA", windowsDefault: "Roaming" },
  data: {
    variable: "XDG_DATA_HOME",
    linux: ".local/share",
    windows: "LOCALAPPDATA",
    windowsDefault: "Local",
  },
  state: {
    variable: "XDG_STATE_HOME",
    linux: ".local/state",
    windows: "LOCALAPPDATA",
    windowsDefault: "Local",
  },
} as const;

type Surroundings = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/** The platform's folders for this program; `BRANDAPI_CONFIG_DIR` moves the settings (contract, section 2). */
export function findFolders(deps: Surroundings): Folders {
  const own = deps.env.BRANDAPI_CONFIG_DIR;
  return {
    config: own ? expandPath(own, deps) : platformFolder("config", deps),
    data: platformFolder("data", deps),
    state: platformFolder("state", deps),
  };
}

/** A path as a person gives it in a flag, the environment or the config file: `~/` is the home folder. */
export function expandPath(path: string, deps: Surroundings): string {
  if (path === "~" || path.startsWith("~/")) return join(homeFolder(deps), path.slice(1));
  return resolve(deps.cwd, path);
}

function platformFolder(kind: keyof typeof kinds, deps: Surroundings): string {
  const { variable, linux, windows, windowsDefault } = kinds[kind];
  const xdg = deps.env[variable];
  // The XDG specification: a relative path is invalid and to be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "brandapi");
  if (deps.platform === "darwin") return join(homeFolder(deps), "Library", "Application Support", "brandapi");
  if (deps.platform === "win32")
    return join(deps.env[windows] || join(homeFolder(deps), "AppData", windowsDefault), "brandapi");
  return join(homeFolder(deps), linux, "brandapi");
}

function homeFolder(deps: Surroundings): string {
  if (isAbsolute(deps.home)) return deps.home;
  throw new ConfigurationError("No home folder is known, so settings and mirrors have no place.", {
    hint: "set HOME to your home folder",
  });
}
