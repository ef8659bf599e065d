import type { ServerResponse } from "node:http";
import { createGzip } from "node:zlib";

/** The answer that would be sent: status, headers and bytes. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

/** What can go wrong with an answer, on purpose. */
export type Fault =
  /** Another answer altogether. */
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: string | Buffer }
  /** A captive portal: 200 with HTML. */
  | { kind: "html"; body?: string }
  /** Any bytes as a 200 in JSON's name: a BOM, invalid UTF-8, `null`. */
  | { kind: "raw"; body: string | Buffer; headers?: Record<string, string> }
  /** The answer with its envelope changed (a 200 only); what is returned is sent as JSON. */
  | { kind: "envelope"; change: (envelope: Record<string, unknown>) => unknown }
  /** The body cut after `bytes` (default: half) and a length that agrees: whole HTTP, broken JSON. */
  | { kind: "truncated"; bytes?: number }
  /** The connection cut before the answer, or in the middle of its body. */
  | { kind: "reset"; when: "before" | "body" }
  /** No answer, or half a body and then nothing, until someone gives up. */
  | { kind: "stall"; when: "before" | "body" }
  /** `Content-Length` off by this many bytes. */
  | { kind: "wrong-length"; by: number }
  /** An array in an array in an array, `depth` deep, as `data`. */
  | { kind: "deep"; depth: number }
  /** A body of this many bytes of JSON string; Infinity: endless. */
  | { kind: "huge"; bytes: number }
  /** A small compressed body that unpacks to this many bytes. */
  | { kind: "gzip-bomb"; bytes: number }
  /** The right answer, later. */
  | { kind: "delay"; ms: number };

const json = { "content-type": "application/json; charset=utf-8" };

/** The answer as the fault changes it, where an answer is all there is to change. */
export function faultyAnswer(fault: Fault, answer: Answer): Answer {
  if (fault.kind === "status")
    return { status: fault.status, headers: { ...answer.headers, ...fault.headers }, body: fault.body ?? "" };
  if (fault.kind === "raw")
    return { status: 200, headers: { ...answer.headers, ...json, ...fault.headers }, body: fault.body };
  if (fault.kind === "html") {
    const body = fault.body ?? "<!doctype html><title>Sign in</title><p>Welcome to Hotel WiFi.</p>";
    return { status: 200, headers: { ...answer.headers, "content-type": "text/html" }, body };
  }
  if (fault.kind === "deep") {
    const data = "[".repeat(fault.depth) + "]".repeat(fault.depth);
    return { status: 200, headers: { ...answer.headers, ...json }, body: `{"success":true,"data":${data}}` };
  }
  if (fault.kind === "envelope" && answer.status === 200) {
    const changed = fault.change(JSON.parse(String(answer.body)) as Record<string, unknown>);
    return { ...answer, body: JSON.stringify(changed) ?? "" };
  }
  if (fault.kind === "truncated") {
    const body = Buffer.from(answer.body);
    return { ...answer, body: body.subarray(0, fault.bytes ?? Math.floor(body.length / 2)) };
  }
  return answer;
}

/** Sends the answer in the fault's way, and returns true; false: nothing unusual about the sending. */
export function sendFaulty(fault: Fault, answer: Answer, response: ServerResponse): boolean {
  const body = Buffer.from(answer.body);
  const half = body.subarray(0, Math.floor(body.length / 2));
  if (fault.kind === "reset") {
    if (fault.when === "before") response.socket?.destroy();
    else sendPart(answer, response, body.length, half, () => response.socket?.destroy());
    return true;
  }
  if (fault.kind === "stall") {
    // The caller ends it, or the sandbox's close.
    if (fault.when === "body") sendPart(answer, response, body.length, half, () => {});
    return true;
  }
  if (fault.kind === "wrong-length") {
    response.strictContentLength = false;
    const length = Math.max(0, body.length + fault.by);
    sendPart(answer, response, length, body, () => response.socket?.destroy());
    return true;
  }
  if (fault.kind === "huge" || fault.kind === "gzip-bomb") {
    sendFlood(fault, response);
    return true;
  }
  return false;
}

function sendPart(
  answer: Answer,
  response: ServerResponse,
  length: number,
  part: Buffer,
  then: () => void,
): void {
  response.writeHead(answer.status, { ...answer.headers, "content-length": length, connection: "close" });
  response.write(part, then);
}

/** Writes as fast as the caller reads, until the bytes are sent or the caller hangs up. */
function sendFlood(fault: { kind: "huge" | "gzip-bomb"; bytes: number }, response: ServerResponse): void {
  const chunk = Buffer.alloc(1 << 16, "a");
  response.writeHead(200, { ...json, ...(fault.kind === "gzip-bomb" ? { "content-encoding": "gzip" } : {}) });
  const gzip = fault.kind === "gzip-bomb" ? createGzip() : undefined;
  gzip?.pipe(response);
  const sink = gzip ?? response;
  let left = fault.bytes;
  sink.on("error", () => {});
  response.on("close", () => {
    left = 0;
    gzip?.destroy();
  });
  sink.write('{"success":true,"data":"');
  function pump(): void {
    while (left > 0) {
      left -= chunk.length;
      if (!sink.write(chunk)) {
        sink.once("drain", pump);
        return;
      }
    }
    if (!response.destroyed) sink.end('"}');
  }
  pump();
}
