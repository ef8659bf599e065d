import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { apiRoot, type SandboxApi } from "./api.js";
import type { SandboxRequest, SandboxResponse } from "./protocol.js";

interface RunningServer {
  /** A URL such as `http://127.0.0.1:4010/api/brand/v1`. */
  baseUrl: string;
  close(): Promise<void>;
}

/**
 * Serves an API and its file host on two ports of 127.0.0.1.
 * @param port the API's port, or 0 for any free port
 * @param beforeResponse runs before each response and can delay it
 * @throws the system error if the port is in use
 */
export async function serveSandbox(
  api: SandboxApi,
  port: number,
  beforeResponse: () => Promise<void> | void = () => {},
): Promise<RunningServer> {
  const listener =
    (handle: (request: SandboxRequest) => SandboxResponse<string | Buffer>): RequestListener =>
    async (incoming, outgoing) => {
      try {
        await beforeResponse();
        const { status, headers, body } = handle(toApiRequest(incoming));
        outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
      } catch {
        // The sandbox is shutting down or has a bug. Either way, the client sees a broken connection.
        incoming.socket.destroy();
      }
    };
  const server = createServer(listener(api.handle));
  const fileServer = createServer(listener(api.handleFile));
  const baseUrl = `http://127.0.0.1:${await listen(server, port)}${apiRoot}`;
  api.filesUrl = `http://127.0.0.1:${await listen(fileServer, 0)}`;
  return { baseUrl, close: async () => void (await Promise.all([server, fileServer].map(closeServer))) };
}

function toApiRequest({ method = "GET", url = "/", headers, socket }: IncomingMessage): SandboxRequest {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  return { method, url, headers: Object.fromEntries(texts), address };
}

function listen(server: Server, port: number): Promise<number> {
  // A client that waits a minute because of the rate limit can reuse its connection.
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
