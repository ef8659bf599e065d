import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { systemDeps } from "../../src/deps.js";
import { libraryOf, misbehave } from "../download/support.js";

const real = systemDeps(new AbortController().signal, fetch);
const size = 1_000_000;

const hosts: [name: string, answer: (response: ServerResponse) => void][] = [
  ["says nothing", () => {}],
  [
    "drips its headers",
    (response) => {
      response.socket?.write("HTTP/1.1 200 OK\r\nx-drip: ");
      drip(response, () => response.socket?.write("a"));
    },
  ],
  [
    "drips its bytes",
    (response) => {
      response.writeHead(200, { "content-length": size });
      drip(response, () => response.write("a"));
    },
  ],
  [
    "stops in the middle",
    (response) => {
      response.writeHead(200, { "content-length": size });
      response.write("a".repeat(2_000));
    },
  ],
];

function drip(response: ServerResponse, drop: () => void): void {
  const timer = setInterval(drop, 50);
  response.socket?.on("close", () => clearInterval(timer));
}

test("a file host that says nothing, drips or stops is given up after one patience, and no other file is tried", async () => {
  const ends = await Promise.all(
    hosts.map(async ([name, answer]) => ({ name, ...(await download(answer)) })),
  );
  for (const { name, summary, results, requests, tookMs } of ends) {
    expect(summary, name).toMatchObject({ downloaded: 0, failed: 4, not_tried: 8 });
    expect(new Set(results.map(({ error }) => error)), name).toEqual(
      new Set(["the file host sent next to nothing for 5 s"]),
    );
    expect(requests, name).toHaveLength(4);
    expect(tookMs, name).toBeLessThan(30_000);
  }
});

/** Twelve files of a host that answers so. However little patience there is, one answer gets five seconds. */
async function download(answer: (response: ServerResponse) => void) {
  const library = await libraryOf(Array.from({ length: 12 }, () => ({ filename: "a.jpg", size })));
  const { requests } = await misbehave(library.sandbox, (_request, response) => {
    answer(response);
    return true;
  });
  const started = performance.now();
  const { clock, later } = real;
  const end = await library.run({ clock, later, maxWaitMs: 1_000 });
  return { ...end, requests, tookMs: performance.now() - started };
}
