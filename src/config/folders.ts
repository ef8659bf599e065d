import { isAbsolute, join, resolve } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";

export type PathDeps = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/**
 * The location of each kind of folder: the XDG variable, the default path on Linux, the Windows variable, and the
 * default for that variable.
 */
const locations = {
  config: ["XDG_CONFIG_HOME", ".config", "APPDATA", "AppData/Roaming"],
  data: ["XDG_DATA_HOME", ".local/share", "LOCALAPPDATA", "AppData/Local"],
  state: ["XDG_STATE_HOME", ".local/state", "LOCALAPPDATA", "AppData/Local"],
} as const;

export function configPath(deps: PathDeps): string {
  const override = deps.env.BRANDAPI_CONFIG_DIR;
  return join(override ? expandPath(override, deps) : platformFolder("config", deps), "config.json");
}

/** Converts a path that a user typed to an absolute path. `~/` stands for the home folder. */
export function expandPath(path: string, deps: PathDeps): string {
  if (path === "~" || path.startsWith("~/")) return join(homeFolder(deps), path.slice(1));
  return resolve(deps.cwd, path);
}

/** Returns this platform's folder for configuration, mirrors, or state such as the rate-limit file. */
export function platformFolder(kind: keyof typeof locations, deps: PathDeps): string {
  const [variable, linux, windowsVariable, windows] = locations[kind];
  const xdg = deps.env[variable];
  // According to the XDG specification, relative paths must be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "brandapi");
  const home = homeFolder(deps);
  if (deps.platform === "darwin") return join(home, "Library/Application Support/brandapi");
  if (deps.platform === "win32") return join(deps.env[windowsVariable] || join(home, windows), "brandapi");
  return join(home, linux, "brandapi");
}

function homeFolder({ home }: PathDeps): string {
  if (isAbsolute(home)) return home;
  throw new ConfigurationError("Cannot determine the home directory.", {
    hint: "set HOME, or BRANDAPI_CONFIG_DIR, BRANDAPI_DB and XDG_STATE_HOME",
  });
}
