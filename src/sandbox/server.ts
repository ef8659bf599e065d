import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { apiRoot, type SandboxApi } from "./api.js";
import type { ApiRequest, HttpResponse } from "./endpoint.js";

/** The API on loopback, until it is closed. */
export interface RunningServer {
  /** Such as `http://127.0.0.1:4010/api/brand/v1`. */
  baseUrl: string;
  close(): Promise<void>;
}

/**
 * Serves an API and its file host on two ports of 127.0.0.1.
 * @param port 0: any free one. Rejects with the system's error if it is taken.
 * @param before runs before each answer, and delays it
 */
export async function serveSandbox(
  api: SandboxApi,
  port: number,
  before: () => Promise<void> | void = () => {},
): Promise<RunningServer> {
  const listener =
    (answerOf: (request: ApiRequest) => HttpResponse<string | Buffer>): RequestListener =>
    async (incoming, outgoing) => {
      try {
        await before();
        const { status, headers, body } = answerOf(requestOf(incoming));
        outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
      } catch {
        // The sandbox is closing, or has a defect: the connection is all that is left to end.
        incoming.socket.destroy();
      }
    };
  const [server, files] = [createServer(listener(api.handle)), createServer(listener(api.handleFile))];
  const baseUrl = `http://127.0.0.1:${await listen(server, port)}${apiRoot}`;
  api.filesUrl = `http://127.0.0.1:${await listen(files, 0)}`;
  return { baseUrl, close: async () => void (await Promise.all([server, files].map(closeServer))) };
}

function requestOf({ method = "GET", url = "/", headers, socket }: IncomingMessage): ApiRequest {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  return { method, url, headers: Object.fromEntries(texts), address };
}

function listen(server: Server, port: number): Promise<number> {
  // A caller that waits a minute for its rate limit keeps its connection.
  server.keepAliveTimeout = 90_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
