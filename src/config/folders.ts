import { isAbsolute, join, resolve } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";

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

/**
 * The platform's folders for this program; `BRANDAPI_CONFIG_DIR` moves the settings (contract, section 2). Each is
 * looked for when it is asked for: without a home folder, what is named otherwise still works.
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

/** A path as a person gives it in a flag, the environment or the config file: `~/` is the home folder. */
export function expandPath(path: string, deps: Surroundings): string {
  if (path.includes("\0"))
    throw new ConfigurationError(`No path can hold a NUL character: ${path}`, { hint: "check the path" });
  if (path === "~" || path.startsWith("~/")) return join(homeFolder(deps), path.slice(1));
  if (deps.cwd === "" && !isAbsolute(path))
    throw new ConfigurationError(
      `The folder that this runs in is gone, so a path in it leads nowhere: ${path}`,
      {
        hint: "go to a folder that is there, such as `cd ~`",
      },
    );
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
  throw new ConfigurationError(
    "No home folder is known, so settings, mirrors and the rate limit's file have no place.",
    {
      hint: "set HOME, or BRANDAPI_CONFIG_DIR, BRANDAPI_DB and XDG_STATE_HOME",
    },
  );
}
