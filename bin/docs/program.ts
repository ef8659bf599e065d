import { Writable } from "node:stream";
import type { Command } from "commander";
import { scanCommandLine } from "../../src/cli/command-line.js";
import { type Deps, type OutputStream, systemDeps } from "../../src/deps.js";
import { runCommandLine } from "../../src/main.js";
import { buildProgram } from "../../src/program.js";

export async function programTree(): Promise<Command> {
  return await buildProgram(realDeps());
}

/**
 * Runs a command in a separate home folder and returns its stdout.
 * @param now the time that the program uses as the current time
 * @throws Error with the command's stderr if the command fails
 */
export async function runProgram(
  argv: readonly string[],
  { home, now, columns }: { home: string; now?: number; columns?: number },
): Promise<string> {
  const [out, err] = [keep(columns), keep()];
  const deps = realDeps();
  const clock = now === undefined ? deps.clock : { ...deps.clock, now: () => now };
  const code = await runCommandLine(scanCommandLine(argv), {
    ...deps,
    env: { LANG: "C.UTF-8" },
    cwd: home,
    home,
    clock,
    stdout: out.stream,
    stderr: err.stream,
  });
  if (code !== 0) throw new Error(`brandapi ${argv.join(" ")} ended with ${code}: ${err.text()}`);
  return out.text();
}

function realDeps(): Deps {
  const { signal } = new AbortController();
  return systemDeps({
    signal,
    runGracefully: (work) => work(),
    fetch: (url, init) => fetch(url, init),
  });
}

function keep(columns?: number): { stream: OutputStream; text(): string } {
  const pieces: string[] = [];
  const stream = new Writable({
    write(piece, _encoding, done) {
      pieces.push(String(piece));
      done();
    },
  });
  const terminal = columns === undefined ? { isTTY: false } : { isTTY: true, columns };
  return { stream: Object.assign(stream, terminal), text: () => pieces.join("") };
}
