import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

/** The usual paths of Chromium; the variable `CHROMIUM` sets another. */
const places = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
export const chromium = places.find((place) => place !== "" && existsSync(place));

/** A page in headless Chromium. The few commands that tests need go through its debugging pipe, without a library. */
export interface Page {
  open(
    file: string,
    look?: { width?: number; height?: number; dark?: boolean; print?: boolean },
  ): Promise<void>;
  /** Evaluates an expression, even if the page's policy forbids scripts. */
  ask<Value>(expression: string): Promise<Value>;
  /** Takes a screenshot of the complete page, or of the visible part. */
  png(how?: { whole: boolean }): Promise<Buffer>;
  pdf(paper: "A4" | "Letter"): Promise<Buffer>;
  /** The console messages, and the URLs that were requested, since the page was opened. */
  heard(): { console: string[]; requests: string[] };
  close(): Promise<void>;
}

type Answer = Record<string, unknown>;
interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Answer;
  result?: Answer;
  error?: { message: string };
}

const papers = { A4: [8.27, 11.69], Letter: [8.5, 11] } as const;

export async function openBrowser(): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-chromium-"));
  const flags = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-sandbox",
    "--disable-gpu",
    // Without this, axe's garbage takes 800 MB.
    "--js-flags=--max-old-space-size=64",
  ];
  const child = spawn(
    chromium ?? "chromium",
    [
      ...flags,
      "--hide-scrollbars",
      "--disable-background-networking",
      `--user-data-dir=${folder}`,
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const pipe = openPipe(child);
  const { targetId } = await pipe.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await pipe.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method: string, params: Answer = {}) => pipe.send(method, params, String(sessionId));
  for (const room of ["Page", "Runtime", "Log", "Network", "Audits"]) await send(`${room}.enable`);
  const said: string[] = [];
  const asked: string[] = [];
  pipe.hear(({ method, params = {} }) => {
    if (method === "Network.requestWillBeSent") asked.push((params.request as { url: string }).url);
    if (
      ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded"].includes(
        method,
      )
    )
      said.push(JSON.stringify(params));
  });
  return {
    async open(file, { width = 1280, height = 900, dark = false, print = false } = {}) {
      said.length = 0;
      asked.length = 0;
      await send("Emulation.setDeviceMetricsOverride", {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: width < 600,
      });
      await send("Emulation.setEmulatedMedia", {
        media: print ? "print" : "",
        features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
      });
      const loaded = pipe.once("Page.loadEventFired");
      await send("Page.navigate", { url: String(pathToFileURL(file)) });
      await loaded;
    },
    async ask<Value>(expression: string) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: Value }).value;
    },
    async png({ whole } = { whole: true }) {
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: whole });
      return Buffer.from(String(data), "base64");
    },
    async pdf(paper) {
      const [paperWidth, paperHeight] = papers[paper];
      const { data } = await send("Page.printToPDF", { paperWidth, paperHeight, printBackground: true });
      return Buffer.from(String(data), "base64");
    },
    heard: () => ({ console: [...said], requests: [...asked] }),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await pipe.send("Browser.close", {}).catch(() => child.kill("SIGKILL"));
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Messages are JSON, separated by zero bytes, on the child's third and fourth streams. */
function openPipe(child: ChildProcess) {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  const listeners = new Set<(message: Message & { method: string }) => void>();
  let count = 0;
  let held = "";
  output.setEncoding("utf8");
  output.on("data", (piece: string) => {
    const texts = (held + piece).split("\0");
    held = texts.pop() ?? "";
    for (const text of texts) {
      const message = JSON.parse(text) as Message;
      const { id, method, result = {}, error } = message;
      if (method !== undefined) for (const listener of [...listeners]) listener({ ...message, method });
      if (id === undefined) continue;
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
      waiting.delete(id);
    }
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("Chromium has ended"));
  });
  return {
    async send(method: string, params: Answer, sessionId?: string): Promise<Answer> {
      const id = ++count;
      const answer = new Promise<Answer>((resolve, reject) => waiting.set(id, { resolve, reject }));
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`);
      return await answer;
    },
    hear: (listener: (message: Message & { method: string }) => void) => void listeners.add(listener),
    once: (method: string) =>
      new Promise<void>((resolve) => {
        const listener = (message: Message) => {
          if (message.method !== method) return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
      }),
  };
}
