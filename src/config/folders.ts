import { isAbsolute, join, resolve } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";

/** Everything that decides where the folders are. */
export type PathDeps = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/** For each folder: the XDG variable, the place in a Linux home, the Windows variable and its default. */
const places = {
  config: ["XDG_CONFIG_HOME", ".config", "APPDATA", "AppData/Roaming"],
  data: ["XDG_DATA_HOME", ".local/share", "LOCALAPPDATA", "AppData/Local"],
  state: ["XDG_STATE_HOME", ".local/state", "LOCALAPPDATA", "AppData/Local"],
} as const;

/** Returns the path of the settings; `BRANDAPI_CONFIG_DIR` names their folder. */
export function configPath(deps: PathDeps): string {
  const own = deps.env.BRANDAPI_CONFIG_DIR;
  return join(own ? expandPath(own, deps) : platformFolder("config", deps), "config.json");
}

/** Returns a path of a flag, the environment or the config file in full: `~/` is the home folder. */
export function expandPath(path: string, deps: PathDeps): string {
  if (path === "~" || path.startsWith("~/")) return join(homeFolder(deps), path.slice(1));
  return resolve(deps.cwd, path);
}

/** Returns the platform's folder for settings, for mirrors, or for what is kept between runs (the rate budget). */
export function platformFolder(kind: keyof typeof places, deps: PathDeps): string {
  const [variable, linux, windowsVariable, windows] = places[kind];
  const xdg = deps.env[variable];
  // The XDG specification: a relative path is invalid and to be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "brandapi");
  const home = homeFolder(deps);
  if (deps.platform === "darwin") return join(home, "Library/Application Support/brandapi");
  if (deps.platform === "win32") return join(deps.env[windowsVariable] || join(home, windows), "brandapi");
  return join(home, linux, "brandapi");
}

function homeFolder({ home }: PathDeps): string {
  if (isAbsolute(home)) return home;
  throw new ConfigurationError("No home folder is known, so settings and mirrors have no place.", {
    hint: "set HOME, or BRANDAPI_CONFIG_DIR, BRANDAPI_DB and XDG_STATE_HOME",
  });
}
