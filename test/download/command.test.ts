import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeHome } from "../support/home.js";
import { fileBytes } from "../support/old-sandbox/downloads.js";
import type { Sandbox } from "../support/old-sandbox/index.js";
import { spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";
import { envFor, sandboxForTest } from "../support/sandbox.js";
import { misbehave } from "./support.js";

interface Item {
  source: string;
  id: string;
  file_size_bytes: number | null;
}

/** A person with a key, whose mirror has read a library of so many files. */
async function person(files: number, size = 2_000) {
  const sandbox = await sandboxForTest({ orders: 10 });
  const items = [...sandbox.records("content")] as Item[];
  for (const { source, id } of items) sandbox.events.removeContent(source, id);
  for (let n = 0; n < files; n += 1)
    sandbox.events.addContent({ source: "upload", filename: `photo ${n}.jpg`, size, statedSize: size });
  const home = makeHome();
  const env = envFor(sandbox);
  const synced = await brandapi("sync content", { home, env });
  expect(synced.code).toBe(0);
  const run = (command: string, more: Parameters<typeof brandapi>[1] = {}) =>
    brandapi(command, { home, env, ...more });
  return { sandbox, home, env, run, folder: join(home, "brandapi-content") };
}

const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, Record<string, unknown>>);

test("`download content` puts the library into ./brandapi-content and says so in one line", async () => {
  const { run, folder } = await person(3);
  const { code, out, err } = await run("download content");
  expect(code).toBe(0);
  expect(out).toBe("");
  expect(err).toContain(`download content: 3 files, 6.0 kB, in ${folder}`);
  expect(readdirSync(folder)).toHaveLength(3);

  const again = await run("download content");
  expect(again.err).toContain("0 files, 0 B");
  expect(again.err).toContain("3 there already");
});

test("with --json each file is a line, and then the whole", async () => {
  const { run } = await person(2);
  const { out } = await run("download content --json --out files");
  const [first, second, last] = lines(out);
  expect(first?.file).toMatchObject({ source: "upload", outcome: "downloaded", bytes: 2_000, error: null });
  expect(second?.file?.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(last?.summary).toMatchObject({ selected: 2, downloaded: 2, failed: 0 });
});

test("no URL, signature or key is printed, with --verbose and failures either", async () => {
  const { run, sandbox, home } = await person(4);
  const { origin } = await misbehave(sandbox, ({ count }, response) =>
    count === 1 ? Boolean(response.writeHead(503).end()) : Boolean(response.destroy()),
  );
  const { code, out, err } = await run("download content --verbose --json --max-wait 1s");
  expect(code).toBe(8);
  const stored = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  for (const text of [out, err, ...stored]) {
    expect(text).not.toContain("signature=");
    expect(text).not.toContain(origin);
    expect(text).not.toContain(sandbox.key);
  }
});

test("files that fail are listed, the others arrive, and the exit code is 8", async () => {
  const { run, sandbox, folder } = await person(4);
  const [gone] = [...sandbox.records("content")] as Item[];
  await misbehave(sandbox, ({ id }, response) =>
    id === gone?.id ? Boolean(response.writeHead(404).end()) : false,
  );
  const { code, err } = await run("download content --quiet");
  expect(code).toBe(8);
  expect(err).toMatch(/photo \d\.jpg: the file host does not have it \(404\)/);
  expect(err).toContain("1 of 4 files could not be fetched.");
  expect(readdirSync(folder)).toHaveLength(3);
});

test("a mirror that has never read the library says which command comes first", async () => {
  const sandbox = await sandboxForTest({ orders: 10 });
  const { code, err } = await brandapi("download content", { env: envFor(sandbox) });
  expect(code).toBe(3);
  expect(err).toContain("`brandapi sync content`");
});

test.each([
  ["download contnet", "did you mean `content`?"],
  ["download content --source uplaod", "did you mean `upload`?"],
  ["download content --media-type image,vidoe", "did you mean `video`?"],
  ["download content --limit none", "whole number"],
  ["download content --since 2026-02-01 --until 2026-01-01", "swap"],
])("`%s` is a usage error with a hint", async (command, hint) => {
  const { code, err } = await brandapi(command);
  expect(code).toBe(2);
  expect(err).toContain(hint);
});

test("filters take several values, with commas or spaces between", async () => {
  const { run, sandbox } = await person(3);
  const one = sandbox.events.addContent({
    source: "deliverable",
    mediaType: "video",
    size: 10,
    statedSize: 10,
  });
  await run("sync content");
  const { out } = await run("download content --source deliverable,upload --media-type video,audio --json");
  const ids = lines(out).flatMap(({ file }) => (file ? [file.id] : []));
  expect(ids).toContain(one.id);
  const host = "00000000-0000-4000-8000-000000000000";
  const none = await run(`download content --host ${host} ${host} --opportunity ${host},${host} --json`);
  expect(lines(none.out)[0]?.summary).toMatchObject({ selected: 0 });
});

/** A file host that sends half of each file and then nothing more, once. */
async function stallOnce(sandbox: Sandbox, size: number) {
  const ranges: (string | undefined)[] = [];
  const seen = new Set<string>();
  const stalled: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const id = request.url?.split("?")[0]?.split("/")[3] ?? "";
    const { range } = request.headers;
    ranges.push(range);
    const first = Number(/\d+/.exec(range ?? "")?.[0] ?? 0);
    const rest = fileBytes({ id }, first, size);
    const headers = { etag: '"v1"', "content-length": rest.length };
    if (first > 0)
      response.writeHead(206, { ...headers, "content-range": `bytes ${first}-${size - 1}/${size}` });
    else response.writeHead(200, headers);
    if (seen.has(id)) return void response.end(rest);
    seen.add(id);
    stalled.push(response);
    response.write(rest.subarray(0, size / 2));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  sandbox.intercept = ({ path }) =>
    path.endsWith("/download")
      ? {
          kind: "envelope",
          change: (envelope) => {
            const { url } = envelope.data as { url: string };
            return { ...envelope, data: { url: url.replace(sandbox.filesUrl, origin) } };
          },
        }
      : undefined;
  return { ranges };
}

test.each([
  ["SIGINT", 130, null],
  ["SIGTERM", 143, null],
  ["SIGKILL", null, "SIGKILL"],
] as const)(
  "after %s in the middle of a file, the same command fetches only the rest",
  async (name, code, killedBy) => {
    const size = 400_000;
    const { sandbox, home, env, folder } = await person(2, size);
    const { ranges } = await stallOnce(sandbox, size);
    const first = spawnBrandapi(["download", "content"], { home, env: env as Record<string, string> });
    await waitFor(() => partBytes(folder) === size);
    first.child.kill(name);
    const ended = await first.ended;
    expect([ended.code, ended.signal]).toEqual([code, killedBy]);
    expect(readdirSync(folder).every((file) => file.endsWith(".part"))).toBe(true);

    const second = await brandapi("download content", { home, env });

    expect(second.code).toBe(0);
    expect(ranges.slice(2)).toEqual([`bytes=${size / 2}-`, `bytes=${size / 2}-`]);
    for (const file of readdirSync(folder)) {
      const id = file.split("_")[1] ?? "";
      expect(readFileSync(join(folder, file)).equals(fileBytes({ id }, 0, size))).toBe(true);
    }
  },
);

function partBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).reduce((sum, file) => sum + readFileSync(join(folder, file)).length, 0);
}

async function waitFor(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never came to that");
}
