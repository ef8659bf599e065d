import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import type { OutputStream } from "../../src/deps.js";
import { write } from "../../src/export/csv.js";
import { createStreamSink, writeAll } from "../../src/export/sinks.js";
import { describeTable } from "../../src/query/readable-tables.js";
import { openRows } from "../../src/query/select.js";
import { openMirrorReadOnly } from "../../src/store/open.js";
import { makeHome } from "../support/home.js";
import { mirrorOfOrders } from "../support/mirror.js";
import { binPath } from "../support/process.js";

test.each(["--csv", "--json", "--ndjson"])(
  "an export ends quietly with exit code 0 if the reader closes the pipe: %s",
  async (format) => {
    const path = await mirrorOfOrders(makeHome(), 4_000);
    const home = makeHome();
    const child = spawn(process.execPath, [binPath, "export", "orders", format, "--db", path], {
      env: { PATH: process.env.PATH ?? "", HOME: home },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    await once(child.stdout, "data");
    child.stdout.destroy();
    const [code] = (await once(child, "close")) as [number];
    expect({ code, err }).toEqual({ code: 0, err: "" });
  },
);

test("an export succeeds if the reader closes the pipe, but fails after any other write error", async () => {
  const broken = (code: string) =>
    new Writable({
      write(_piece, _encoding, done) {
        done(Object.assign(new Error(code), { code }));
      },
    });
  const exportInto = async (code: string) => {
    const mirror = await openMirrorReadOnly(await mirrorOfOrders(makeHome(), 400));
    const sink = createStreamSink(broken(code) as unknown as OutputStream);
    const source = openRows(mirror, { table: describeTable(mirror, "orders") });
    const chunks = [...write([source], { excel: false, warn: () => {} })];
    return await writeAll(
      chunks.map(({ data }) => data),
      sink,
    ).finally(() => mirror.db.close());
  };
  expect(await exportInto("EPIPE")).toMatchObject({ isCutShort: true });
  await expect(exportInto("ENOSPC")).rejects.toThrow("ENOSPC");
});

test("an export waits for a slow reader instead of buffering its output in memory", async () => {
  const stream = new PassThrough({ highWaterMark: 10 });
  const sink = createStreamSink(stream as unknown as OutputStream);
  let written = 0;
  const writing = (async () => {
    for (let n = 0; n < 5; n++) {
      await sink.write("x".repeat(20));
      written += 1;
    }
  })();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(0);
  stream.resume();
  await writing;
  expect(written).toBe(5);
  await sink.finish();
  expect(stream.listenerCount("error")).toBe(0);
});
