import { type Fault, faultOf, unlessAborted } from "../api/index.js";
import type { Clock, Fetch } from "../deps.js";
import { type Body, judge, type Transfer, wrongSize } from "./judge.js";
import type { Part } from "./part.js";
import type { Patience } from "./patience.js";
import type { Room } from "./room.js";

/** What calling the file host takes. */
export interface FileHost {
  fetch: Fetch;
  clock: Clock;
  signal: AbortSignal;
  userAgent: string;
  patience: Pick<Patience, "watch">;
  /** Where the API does not tell how long the file is. */
  room: Room | null;
}

/** Where neither the API nor the file host says how long a file is. */
const mostBytes = 16 * 2 ** 30;

/**
 * One request to the file host, streamed into the part: from its end where that can be continued, otherwise from
 * the first byte. Without the key, and with no header of ours but User-Agent and what a download needs.
 * @param onLength hears of the part's length as it changes, and of the whole file's, where known
 * @throws what the file system throws, or the signal's reason
 */
export async function transfer(
  url: URL,
  part: Part,
  size: number | null,
  host: FileHost,
  onLength: (length: number, total: number | null) => void,
): Promise<Transfer> {
  const { validator } = part;
  const from = validator === null ? 0 : part.length;
  const call = new AbortController();
  const stop = () => call.abort(host.signal.reason);
  host.signal.throwIfAborted();
  host.signal.addEventListener("abort", stop, { once: true });
  const endWatch = host.patience.watch(call);
  try {
    const answer = await attempt(host.fetch(url, request(from, validator, host, call.signal)), call, host);
    if ("fault" in answer) return { kind: "fault", fault: answer.fault };
    const response = answer.value;
    const judged = judge(response, { from, size, validator }, host.clock.now());
    if (judged.kind !== "body") return judged;
    if (!judged.continues) await part.restart(judged.validator);
    onLength(part.length, judged.total);
    return await receive(response, call, part, judged, size, host, onLength);
  } finally {
    endWatch();
    host.signal.removeEventListener("abort", stop);
    // Whatever of the answer is still on its way is not wanted.
    call.abort();
  }
}

function request(from: number, validator: string | null, host: FileHost, signal: AbortSignal): RequestInit {
  const range = from > 0 && validator !== null ? { range: `bytes=${from}-`, "if-range": validator } : {};
  return {
    method: "GET",
    // Packed, lengths and ranges would be those of the packed bytes.
    headers: { "user-agent": host.userAgent, "accept-encoding": "identity", ...range },
    redirect: "manual",
    signal,
  };
}

async function receive(
  response: Response,
  call: AbortController,
  part: Part,
  { total }: Body,
  size: number | null,
  host: FileHost,
  onLength: (length: number, total: number | null) => void,
): Promise<Transfer> {
  const reader = response.body?.getReader();
  const cap = total ?? mostBytes;
  while (reader) {
    const next = await attempt(reader.read(), call, host);
    if ("fault" in next) return { kind: "fault", fault: next.fault };
    if (next.value.done) break;
    const chunk: Uint8Array = next.value.value;
    if (part.length + chunk.byteLength > cap) return tooLong(size, cap);
    await host.room?.take(chunk.byteLength);
    await part.append(chunk);
    onLength(part.length, total);
  }
  if (total === null || part.length === total) return { kind: "complete" };
  // A 206 may bring less than was asked for: the rest is asked for next.
  if (response.status === 206)
    return { kind: "fault", fault: { kind: "network", reason: "the file host sent only a part of it" } };
  return size === null ? { kind: "mismatch", reason: "it ended early" } : wrongSize(size, part.length);
}

function tooLong(size: number | null, cap: number): Transfer {
  if (size === null) return { kind: "refused", reason: `it is longer than ${cap} bytes` };
  return {
    kind: "mismatch",
    reason: `the file host sends more than the ${size} bytes that the library says`,
  };
}

/** A step of the exchange; a failure that is the network's becomes a fault. No cause: it could quote the URL. */
async function attempt<Value>(
  step: Promise<Value>,
  call: AbortController,
  { signal }: Pick<FileHost, "signal">,
): Promise<{ value: Value } | { fault: Fault }> {
  try {
    return { value: await unlessAborted(step, call.signal) };
  } catch (error) {
    signal.throwIfAborted();
    const fault = faultOf(error, "the file host");
    if (fault?.kind === "permanent")
      return { fault: { kind: "permanent", reason: fault.reason, hint: fault.hint } };
    return {
      fault: { kind: "network", reason: fault?.reason ?? "the connection to the file host broke off" },
    };
  }
}
