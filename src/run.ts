import type { Deps } from "./deps.js";
import { BrandapiError, type ExitCode, exitCodes } from "./errors.js";
import { runProgram } from "./program.js";

/**
 * Runs one command line. The only catch of the program: every error becomes a message, a hint and an exit code
 * (contract, section 6).
 * @param argv the arguments after `brandapi`
 */
export async function run(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  try {
    return await runProgram(argv, deps);
  } catch (error) {
    return report(error, argv, deps);
  }
}

function report(error: unknown, argv: readonly string[], deps: Deps): ExitCode {
  const known = error instanceof BrandapiError ? error : undefined;
  const message =
    known?.message ?? `A defect in brandapi: ${error instanceof Error ? error.message : String(error)}`;
  const hint = known ? known.hint : "please report it, with what `--verbose` prints";
  const code = known?.code ?? "defect";
  if (argv.includes("--json"))
    deps.stdout.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
  deps.stderr.write(`brandapi: ${message}\n`);
  if (hint) deps.stderr.write(`  hint: ${hint}\n`);
  if (argv.includes("--verbose") && error instanceof Error) deps.stderr.write(`${error.stack ?? ""}\n`);
  return known?.exitCode ?? exitCodes.defect;
}
