import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

/**
 * The paths to check for Chromium: the value of the environment variable `CHROMIUM`, then the usual installation paths.
 */
const paths = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
export const chromium = paths.find((path) => path !== "" && existsSync(path));

/** A page in headless Chromium. It is controlled through the DevTools protocol, without a library. */
export interface BrowserPage {
  open(
    file: string,
    options?: { width?: number; height?: number; dark?: boolean; print?: boolean },
  ): Promise<void>;
  /** Evaluates a JavaScript expression, even if the page's Content-Security-Policy forbids scripts. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Takes a screenshot of the full page, or of the visible part if `fullPage` is false. */
  screenshot(options?: { fullPage: boolean }): Promise<Buffer>;
  pdf(paper: "A4" | "Letter"): Promise<Buffer>;
  /** Returns the console messages and the requested URLs since the page was opened. */
  activity(): { console: string[]; requests: string[] };
  close(): Promise<void>;
}

type Params = Record<string, unknown>;
interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Params;
  result?: Params;
  error?: { message: string };
}

const papers = { A4: [8.27, 11.69], Letter: [8.5, 11] } as const;

export async function openBrowser(): Promise<BrowserPage> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-chromium-"));
  const flags = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-sandbox",
    "--disable-gpu",
    // Limits axe's memory usage, which would otherwise grow to 800 MB.
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
  const send = (method: string, params: Params = {}) => pipe.send(method, params, String(sessionId));
  for (const domain of ["Page", "Runtime", "Log", "Network", "Audits"]) await send(`${domain}.enable`);
  const messages: string[] = [];
  const requests: string[] = [];
  pipe.listen(({ method, params = {} }) => {
    if (method === "Network.requestWillBeSent") requests.push((params.request as { url: string }).url);
    if (
      ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded"].includes(
        method,
      )
    )
      messages.push(JSON.stringify(params));
  });
  return {
    async open(file, { width = 1280, height = 900, dark = false, print = false } = {}) {
      messages.length = 0;
      requests.length = 0;
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
    async evaluate<Value>(expression: string) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: Value }).value;
    },
    async screenshot({ fullPage } = { fullPage: true }) {
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: fullPage });
      return Buffer.from(String(data), "base64");
    },
    async pdf(paper) {
      const [paperWidth, paperHeight] = papers[paper];
      const { data } = await send("Page.printToPDF", { paperWidth, paperHeight, printBackground: true });
      return Buffer.from(String(data), "base64");
    },
    activity: () => ({ console: [...messages], requests: [...requests] }),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await pipe.send("Browser.close", {}).catch(() => child.kill("SIGKILL"));
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Connects to a child process through the DevTools protocol, which sends JSON messages on file descriptors 3 and 4,
 * each terminated by a NUL byte.
 */
function openPipe(child: ChildProcess) {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, { resolve(result: Params): void; reject(error: Error): void }>();
  const listeners = new Set<(message: Message & { method: string }) => void>();
  let count = 0;
  let buffered = "";
  output.setEncoding("utf8");
  output.on("data", (piece: string) => {
    const texts = (buffered + piece).split("\0");
    buffered = texts.pop() ?? "";
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
    for (const { reject } of waiting.values()) reject(new Error("Chromium exited"));
  });
  return {
    async send(method: string, params: Params, sessionId?: string): Promise<Params> {
      const id = ++count;
      const result = new Promise<Params>((resolve, reject) => waiting.set(id, { resolve, reject }));
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) })}\0`);
      return await result;
    },
    listen: (listener: (message: Message & { method: string }) => void) => void listeners.add(listener),
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
