import type { Deps } from "../deps.js";
import { ApiUnavailable, ConfigurationError, type ExitCode, exitCodes, UsageError } from "../errors.js";
import { headed } from "../ui/print.js";
import { createReporter } from "../ui/reporter.js";
import { styleFor } from "../ui/style.js";
import { type Brand, lookAtBrands } from "./brands.js";
import type { Context, GlobalOptions } from "./context.js";
import { interactiveMaxWaitMs } from "./open-api.js";

/**
 * Runs a command for each brand of this machine, one after another, each with what is stored for it: a flag or a
 * variable that is one brand's is no other's. A brand that fails stops no other; a signal stops all.
 * @param purpose `sync` needs a stored key, and takes first what was read longest ago: no brand is always the last
 * @throws UsageError where a flag is for one brand alone, Stopped
 */
export async function eachProfile<Options extends GlobalOptions>(
  options: Options,
  context: Context,
  purpose: "sync" | "look",
  run: (options: Options, context: Context) => Promise<void>,
): Promise<void> {
  const { deps, tell } = context;
  refuseSingle(options);
  const brands = await chooseBrands(options, deps, purpose);
  const away = new Set<string>();
  for (const { profile, base_url } of brands) {
    deps.signal.throwIfAborted();
    const origin = originOf(base_url);
    const own = { ...options, allProfiles: undefined, profile };
    // What did not answer one brand in all its patience need not keep the next one waiting as long.
    if (away.has(origin)) own.maxWait = Math.min(own.maxWait ?? Infinity, interactiveMaxWaitMs);
    try {
      await run(own, { ...context, deps: depsFor(profile, options, deps), profile });
    } catch (error) {
      // What is wrong with the command line is so for every brand.
      if (deps.signal.aborted || error instanceof UsageError) throw error;
      if (error instanceof ApiUnavailable) away.add(origin);
      context.exitCode = graver(context.exitCode, tell(error, profile));
    }
  }
}

/** The codes go from a defect (1) to what mends itself (10): the lowest but 0 is the gravest. */
export function graver(one: ExitCode, other: ExitCode): ExitCode {
  if (one === exitCodes.done || other === exitCodes.done) return one === exitCodes.done ? other : one;
  return one < other ? one : other;
}

function originOf(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : "";
}

async function chooseBrands(
  options: GlobalOptions,
  deps: Deps,
  purpose: "sync" | "look",
): Promise<readonly Brand[]> {
  const all = await lookAtBrands(deps);
  const ready = all.filter(({ key }) => purpose === "look" || key.stored);
  const reporter = createReporter(deps, options);
  for (const { profile } of all.filter((brand) => !ready.includes(brand)))
    reporter.note(`${profile}: skipped: no key is stored for it`);
  reporter.close();
  if (ready.length === 0)
    throw new ConfigurationError("No brand is set up here.", {
      hint: "run `brandapi login --profile NAME` for each",
    });
  const since = ({ last_success_at: at }: Brand) => at ?? "";
  return purpose === "look" ? ready : ready.toSorted((a, b) => (since(a) < since(b) ? -1 : 1));
}

/** What is printed for a brand stands under its name. */
function depsFor(profile: string, options: GlobalOptions, deps: Deps): Deps {
  const { BRANDAPI_PROFILE, BRANDAPI_BASE_URL, BRANDAPI_KEY, BRANDAPI_DB, BRANDAPI_PING, ...env } = deps.env;
  const under = (stream: typeof deps.stdout) =>
    headed(stream, styleFor(stream, { color: options.color !== false }, env).bold(`[${profile}]`));
  return {
    ...deps,
    env,
    stdout: options.json ? deps.stdout : under(deps.stdout),
    stderr: under(deps.stderr),
  };
}

/** @throws UsageError for a flag that is for one brand alone */
export function refuseSingle(options: GlobalOptions): void {
  const given = [
    ["--profile", options.profile],
    ["--db", options.db],
    ["--base-url", options.baseUrl],
    ["--key-file", options.keyFile],
  ].find(([, value]) => value !== undefined);
  if (given)
    throw new UsageError(`\`${given[0]}\` is for one brand: it does not go with \`--all-profiles\`.`, {
      hint: "leave one of them out",
    });
}
