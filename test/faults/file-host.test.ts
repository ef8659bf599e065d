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

test.each(hosts)(
  "a file host that %s is given up after one patience, and no other file is tried",
  async (_, answer) => {
    const library = await libraryOf(Array.from({ length: 12 }, () => ({ filename: "a.jpg", size })));
    const { requests } = await misbehave(library.sandbox, (_request, response) => {
      answer(response);
      return true;
    });
    const started = performance.now();
    // However little patience there is, one answer gets five seconds.
    const { clock, later } = real;
    const { summary, results } = await library.run({ clock, later, maxWaitMs: 1_000 });
    expect(summary).toMatchObject({ downloaded: 0, failed: 4, not_tried: 8 });
    expect(new Set(results.map(({ error }) => error))).toEqual(
      new Set(["the file host sent next to nothing for 5 s"]),
    );
    expect(requests).toHaveLength(4);
    expect(performance.now() - started).toBeLessThan(30_000);
  },
);
