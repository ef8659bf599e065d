import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { apiRoot, type SandboxApi, type SandboxRequest, type SandboxResponse } from "./api.js";

interface RunningServer {
  baseUrl: string;
  close(): Promise<void>;
}

/**
 * Serves an API and its file host on two loopback ports.
 * @param port the API's port, or 0 for any free port
 * @param beforeResponse called before each response, which it can delay
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
        // If the handler throws, or the server is shutting down, close the connection without a response.
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
  return { method, url, headers: Object.fromEntries(texts), address: socket.remoteAddress ?? "" };
}

function listen(server: Server, port: number): Promise<number> {
  // Keep connections open long enough for a client to reuse them after waiting a minute for the rate limit.
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
