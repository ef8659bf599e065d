import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openApi } from "../../src/api/client.js";
import { createFetch } from "../../src/api/transport.js";
import { type Clock, type Deps, systemClock } from "../../src/deps.js";
import { type Selection, selectFiles } from "../../src/download/catalogue.js";
import {
  type DownloadAccess,
  type DownloadSummary,
  downloadFiles,
  type FileResult,
} from "../../src/download/engine.js";
import { silentReporter } from "../../src/lib/reporter.js";
import type { Mirror } from "../../src/mirror/mirror.js";
import { content } from "../../src/resources/content.js";
import { syncResources } from "../../src/sync/resources.js";
import { defaultOptions } from "../../src/sync/run.js";
import { makeMirror } from "../support/mirror.js";
import { fileBytes } from "../support/old-sandbox/downloads.js";
import { type Sandbox, startSandbox } from "../support/old-sandbox/index.js";

export const everything: Selection = { sources: [], mediaTypes: [], opportunities: [], hosts: [] };

/** A library file of a test: what its record says and what its bytes are. */
export interface TestFile {
  filename: string | null;
  size: number;
  statedSize?: number | null;
  mimeType?: string | null;
  createdAt?: number;
  source?: "deliverable" | "upload";
}

/** Real time, but nobody really waits: a sleep passes the time at once. */
export function hastyClock(): Clock & { slept: number[] } {
  let ahead = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      ahead += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-download-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface TestLibrary {
  sandbox: Sandbox;
  mirror: Mirror;
  /** A fresh folder that holds the mirror, and `out` once something was downloaded. */
  folder: string;
  out: string;
  /** The ids of the files, in the order given. */
  ids: string[];
  clock: ReturnType<typeof hastyClock>;
  bytesOf(id: string): Buffer;
  access(given?: Partial<DownloadAccess>): DownloadAccess;
  run(
    given?: Partial<DownloadAccess>,
    selection?: Selection,
    limit?: number,
  ): Promise<{ summary: DownloadSummary; results: FileResult[] }>;
}

/** A sandbox whose library holds just these files, and a mirror that has read it. */
export async function libraryOf(files: readonly TestFile[]): Promise<TestLibrary> {
  const clock = hastyClock();
  const sandbox = await startSandbox({ rateLimit: null, orders: 10 }, { clock: systemClock });
  onTestFinished(() => sandbox.close());
  for (const item of [...sandbox.records("content")] as { source: string; id: string }[])
    sandbox.events.removeContent(item.source, item.id);
  const sizes = new Map<string, number>();
  const ids = files.map(({ size, statedSize = size, source = "upload", ...rest }) => {
    const { id } = sandbox.events.addContent({ source, mimeType: "image/jpeg", size, statedSize, ...rest });
    sizes.set(id, size);
    return id;
  });
  const folder = temporaryFolder();
  const mirror = await makeMirror(folder);
  onTestFinished(() => void mirror.db.close());
  const { signal } = new AbortController();
  const fetch = createFetch({});
  const deps = { clock, signal, fetch, random: () => 0.5, env: {} } as unknown as Deps;
  const settings = { baseUrl: sandbox.baseUrl, key: sandbox.key, rateLimit: null, maxWaitMs: 60_000 };
  const api = openApi({ ...settings, userAgent: "brandapi/test", statePath: folder }, deps);
  onTestFinished(() => api.close());
  const reporter = silentReporter;
  const { failures } = await syncResources(
    { mirror, api, clock, signal, reporter, options: defaultOptions },
    { allowed: [content], skipped: [], named: true },
    () => {},
  );
  if (failures[0]) throw failures[0].error;
  const out = join(folder, "out");
  const access = (given: Partial<DownloadAccess> = {}): DownloadAccess => ({
    mirror,
    api,
    clock,
    signal,
    reporter,
    task: { update: () => {}, waiting: () => {} },
    fetch,
    random: () => 0.5,
    baseUrl: sandbox.baseUrl,
    userAgent: "brandapi/test",
    maxWaitMs: 60_000,
    folder: out,
    ...given,
  });
  return {
    sandbox,
    mirror,
    folder,
    out,
    ids,
    clock,
    bytesOf: (id) => fileBytes({ id }, 0, sizes.get(id) ?? 0),
    access,
    async run(given, selection = everything, limit = Number.POSITIVE_INFINITY) {
      const results: FileResult[] = [];
      const summary = await downloadFiles(selectFiles(mirror, selection), access(given), limit, (result) =>
        results.push(result),
      );
      return { summary, results };
    },
  };
}

export interface FileRequest {
  id: string;
  /** How often this file was asked for, this time included. */
  count: number;
  range: string | undefined;
  ifRange: string | undefined;
  headers: IncomingMessage["headers"];
  /** With the signature. */
  url: string;
}

/** Answers a request itself and returns true, or leaves it to the sandbox's file host. */
export type FileFault = (request: FileRequest, response: ServerResponse) => boolean | undefined;

/**
 * A file host of its own before the sandbox's: what the fault does not answer is passed on with every header, so
 * that the sandbox still sees, and counts, a key.
 * @param concerns the ids of the files that it serves; the others are served by the sandbox directly
 */
export async function misbehave(
  sandbox: Sandbox,
  fault: FileFault,
  concerns: (id: string) => boolean = () => true,
): Promise<{ requests: FileRequest[]; origin: string }> {
  const requests: FileRequest[] = [];
  const counts = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const url = request.url ?? "";
    const id = url.split("?")[0]?.split("/")[3] ?? "";
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    const { headers } = request;
    const seen = {
      id,
      count,
      range: headers.range,
      ifRange: headers["if-range"] as string | undefined,
      headers,
      url,
    };
    requests.push(seen);
    if (fault(seen, response)) return;
    const { host: _, connection: __, ...passed } = headers;
    const answer = await fetch(sandbox.filesUrl + url, { headers: passed as Record<string, string> });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  sandbox.intercept = ({ path }) => {
    const [, , , id = "", last] = path.split("/");
    if (last !== "download" || !concerns(id)) return;
    return {
      kind: "envelope",
      change: (envelope) => {
        const data = envelope.data as { url: string };
        return { ...envelope, data: { ...data, url: data.url.replace(sandbox.filesUrl, origin) } };
      },
    };
  };
  return { requests, origin };
}

/** Sends the beginning of a file under its full length, then cuts the connection. */
export function cutAfter(
  response: ServerResponse,
  whole: Buffer,
  bytes: number,
  headers: Record<string, string> = {},
) {
  response.writeHead(200, { "content-length": whole.length, ...headers });
  response.write(whole.subarray(0, bytes), () => setImmediate(() => response.destroy()));
  return true;
}
