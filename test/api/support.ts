import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ApiClient, type ApiEvents, type ApiSettings } from "../../src/api/client.js";
import { createFetch } from "../../src/api/transport.js";
import { type Clock, type Deps, systemDeps } from "../../src/deps.js";

export const key = "bk_test_5ecret-Key";

/** A clock that advances only when `sleep` or `pass` is called. */
export class FakeClock implements Clock {
  mono = 1_000_000;
  wall = Date.parse("2026-10-20T12:00:00Z");
  readonly slept: number[] = [];

  get waitedMs(): number {
    return this.slept.reduce((sum, ms) => sum + ms, 0);
  }
  now(): number {
    return this.wall;
  }
  monotonic(): number {
    return this.mono;
  }
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.pass(ms);
    await Promise.resolve();
  }
  pass(ms: number): void {
    this.mono += ms;
    this.wall += ms;
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-api-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns dependencies with real sockets, no timeouts and a deterministic `random`. */
function testDeps(given: Partial<Deps>): Deps {
  const { setTimer: _, ...system } = systemDeps({
    signal: new AbortController().signal,
    runGracefully: (work) => work(),
    fetch: createFetch({}),
  });
  return { ...system, random: () => 0.5, ...given };
}

/** Creates a client without retries or a rate limit, and closes it after the test. */
export function testApi(
  baseUrl: string,
  given: {
    settings?: Partial<ApiSettings>;
    deps?: Partial<Deps>;
    events?: ApiEvents;
  } = {},
) {
  const settings: ApiSettings = {
    baseUrl,
    key,
    rejectedKeyHint: "create a new key",
    keyReplacement: "use the new key",
    rateLimit: null,
    maxWaitMs: 0,
    userAgent: "brandapi/test",
    statePath: "/nowhere",
    ...given.settings,
  };
  const api = new ApiClient(settings, testDeps(given.deps ?? {}), given.events);
  onTestFinished(() => api.close());
  return api;
}

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export async function serve(
  handler: Handler,
): Promise<{ baseUrl: string; port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response, requests.length);
  });
  const port = await listen(server);
  return { baseUrl: `http://127.0.0.1:${port}/api/brand/v1`, port, requests };
}

/** Starts a TCP server on loopback that lets the test write raw bytes. */
export async function serveBytes(
  handler: (socket: Socket, count: number) => void,
): Promise<{ baseUrl: string }> {
  let count = 0;
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      count += 1;
      handler(socket, count);
    });
  });
  return { baseUrl: `http://127.0.0.1:${await listen(server)}/api/brand/v1` };
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

export function pagination(page: number, per_page: number, total_items: number) {
  const total_pages = Math.ceil(total_items / per_page);
  return { page, per_page, total_items, total_pages, has_next: page < total_pages, has_prev: page > 1 };
}

export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { hint?: string; exitCode?: number; failureScope?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("the promise was not rejected");
}

export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
