import { join } from "node:path";
import { makeHome } from "./home.js";
import { brandapi, type ProgramOptions, type ProgramResult } from "./program.js";
import { type Sandbox, type SandboxOptions, sandboxForTest } from "./sandbox.js";

/** Several profiles on one machine, without environment variables. */
export interface Profiles {
  sandbox: Sandbox;
  home: string;
  /** Returns the default path of a profile's mirror. */
  mirrorOf(profile: string): string;
  login(profile: string, key: string): Promise<void>;
  run(command: string | readonly string[], options?: ProgramOptions): Promise<ProgramResult>;
}

export async function makeProfiles(options: SandboxOptions = {}): Promise<Profiles> {
  const sandbox = await sandboxForTest({ orders: 50, ...options });
  const home = makeHome();
  const profiles: Profiles = {
    sandbox,
    home,
    mirrorOf: (profile) => join(home, `.local/share/brandapi/${profile}.sqlite`),
    async login(profile, key) {
      const words = ["login", "--profile", profile, "--base-url", sandbox.baseUrl, "--key-stdin"];
      const { code, err } = await profiles.run(words, { stdin: key });
      if (code !== 0) throw new Error(err);
    },
    run: async (command, { env, ...rest } = {}) =>
      await brandapi(command, {
        home,
        clock: { now: () => sandbox.now() },
        ...rest,
        env: { BRANDAPI_RATE_LIMIT: "none", ...env },
      }),
  };
  return profiles;
}
