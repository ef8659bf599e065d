import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { OutputStream } from "../../src/deps.js";
import { writeToStdout } from "../../src/export/write-output.js";
import { makeHome } from "../support/home.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { binPath, spawnBrandapi } from "../support/process.js";

test.each(["--csv", "--json", "--ndjson"])(
  "`export orders %s` ends without an error if the reader of its stdout closes the pipe",
  async (format) => {
    const path = await mirrorOfOrders(4_000);
    const program = spawnBrandapi(["export", "orders", format, "--db", path]);
    await program.closeStdout();
    expect(await program.ended).toMatchObject({ code: 0, err: "" });
  },
);

test.runIf(existsSync("/dev/full"))("an export to stdout exits with code 3 if the disk is full", async () => {
  const path = await mirrorOfOrders(400);
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [binPath, "export", "orders", "--csv", "--db", path], {
    env: { PATH: process.env.PATH ?? "", HOME: makeHome() },
    stdio: ["ignore", full, "ignore"],
  });
  const [code] = (await once(child, "close")) as [number];
  closeSync(full);
  expect(code).toBe(3);
});

test("an export waits for a slow reader instead of buffering its output in memory", async () => {
  const stream = new PassThrough({ highWaterMark: 10 });
  let written = 0;
  function* chunks() {
    for (let n = 0; n < 5; n++) {
      yield { data: "x".repeat(20) };
      written += 1;
    }
  }
  const writing = writeToStdout(chunks(), stream as unknown as OutputStream);
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(0);
  stream.resume();
  await writing;
  expect(written).toBe(5);
  expect(stream.listenerCount("error")).toBe(0);
});
