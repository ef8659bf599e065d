import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkPingUrl, withPings } from "../../src/cli/ping.js";
import type { Fetch } from "../../src/deps.js";
import { type ExitCode, Incomplete, Stopped, UsageError } from "../../src/errors.js";
import { makeBrand } from "../support/brand.js";
import { spawnBrandapi, until } from "../support/process.js";
import { brandapi, type ProgramOptions, testDeps } from "../support/program.js";
import { day, noon, ordersBefore } from "../support/records.js";

/**
 * A server that behaves like public monitoring services. It accepts any method, the paths `/start` and `/fail`, and
 * bodies of up to 10 kB, and returns "OK".
 */
async function startSwitch(answer: () => number | "hang" = () => 200) {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      heard.push(`${request.method} ${request.url}${body === "" ? "" : ` ${body}`}`);
      const status = answer();
      if (status !== "hang") response.writeHead(status, { "content-type": "text/plain" }).end("OK");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ping/7c1f` };
}

const brandOf = async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 3, day) });
  return { brand, env: await brand.served() };
};

test.each(["https://hc.example/x", "http://localhost:8000/x", "http://127.0.0.1/x"])(
  "the ping URL %s is accepted",
  (url) => {
    expect(checkPingUrl(url)).toBe(url);
  },
);

test.each([
  "http://hc.example/x",
  "ftp://localhost/x",
  "https://user@hc.example/x",
  "https://:secret@hc.example/x",
  "hc.example/x",
])("the ping URL %s is rejected", (url) => {
  expect(() => checkPingUrl(url)).toThrow(UsageError);
});

/** Runs `work` with pings to a service that responds with the given statuses in turn, and then always with 200. */
async function pingsOf(
  statuses: (number | Error)[],
  work: () => Promise<ExitCode>,
  options: ProgramOptions = {},
) {
  const pings: string[] = [];
  const fetch: Fetch = async (url, { method = "GET", body = "" } = {}) => {
    pings.push(`${method} ${url} ${body}`.trim());
    const status = statuses.shift() ?? 200;
    if (status instanceof Error) throw status;
    return { status, headers: new Headers(), body: null };
  };
  const deps = testDeps({ fetch, ...options });
  const ended = await withPings("https://hc.example/x", {}, deps, work).catch((error: unknown) => error);
  return { pings, ended, err: deps.stderr.text };
}

const [started, succeeded] = ["GET https://hc.example/x/start", "GET https://hc.example/x"];
const failedWith = (code: number) => `POST https://hc.example/x/fail ${code}`;

test.each<[string, (number | Error)[], ExitCode, string[], string]>([
  ["a successful run sends a start ping and a success ping", [], 0, [started, succeeded], ""],
  ["a run that exits with code 8 sends a start ping and a failure ping", [], 8, [started, failedWith(8)], ""],
  ["a start ping that fails once is retried without a warning", [500], 0, [started, started, succeeded], ""],
  ["a ping is successful if the response is 204", [204], 0, [started, succeeded], ""],
  [
    "a ping that fails twice causes a warning, and does not change the exit code",
    [200, 300, 404],
    0,
    [started, succeeded, succeeded],
    "HTTP 404",
  ],
])("%s", async (_, statuses, code, pings, warning) => {
  const run = await pingsOf(statuses, async () => code);
  expect(run).toMatchObject({ ended: code, pings });
  expect(run.err).toBe(warning === "" ? "" : `warning: the ping failed: ${warning}\n`);
});

test("withPings waits for each ping, and throws a failed run's error only after the failure ping", async () => {
  const order: string[] = [];
  const fetch: Fetch = async (url) => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(new URL(url).pathname);
    return { status: 200, headers: new Headers(), body: null };
  };
  const deps = testDeps({ fetch });
  const work = async (): Promise<ExitCode> => {
    order.push("work");
    throw new Incomplete("x");
  };
  await expect(withPings("https://hc.example/x/", {}, deps, work)).rejects.toThrow(Incomplete);
  expect(order).toEqual(["/x/start", "work", "/x/fail"]);
  expect(await withPings(undefined, {}, deps, async () => 8)).toBe(8);
  expect(order).toHaveLength(3);
  expect(deps.stderr.text).toBe("");
});

test("after a signal, the failure ping is sent only once, even if it fails", async () => {
  const stop = new AbortController();
  const work = async (): Promise<ExitCode> => {
    const reason = new Stopped("SIGTERM");
    stop.abort(reason);
    throw reason;
  };
  const run = await pingsOf([200, 500], work, { signal: stop.signal });
  expect(run).toMatchObject({ ended: { exitCode: 143 }, pings: [started, failedWith(143)] });
});

test("a signal during the start ping stops the run without a warning", async () => {
  const stop = new AbortController();
  const reason = new Stopped("SIGINT");
  const fetch: Fetch = async (url) => {
    if (!String(url).endsWith("/start")) return { status: 200, headers: new Headers(), body: null };
    stop.abort(reason);
    return await new Promise(() => {});
  };
  const run = await pingsOf([], () => Promise.reject(new RangeError("not reached")), {
    fetch,
    signal: stop.signal,
  });
  expect(run).toMatchObject({ ended: reason, err: "" });
});

test("sync pings the URL when it starts and ends, and sends the exit code of a failed run but none of the brand's data", async () => {
  const { brand, env } = await brandOf();
  const { heard, url } = await startSwitch();
  const sync = async (more: string[], extra: Record<string, string> = {}) => {
    heard.length = 0;
    const ran = await brandapi(["sync", "orders", ...more], { env: { ...env, ...extra }, home: brand.home });
    return [ran.code, ...heard];
  };
  expect(await sync(["--ping", `${url}/?a=b`])).toEqual([
    0,
    "GET /ping/7c1f/start?a=b",
    "GET /ping/7c1f?a=b",
  ]);
  expect(await sync([], { BRANDAPI_PING: url })).toEqual([0, "GET /ping/7c1f/start", "GET /ping/7c1f"]);
  const failed = [4, "GET /ping/7c1f/start", "POST /ping/7c1f/fail 4"];
  expect(await sync(["--ping", url], { BRANDAPI_KEY: "brk_unknown" })).toEqual(failed);
  expect(await sync(["--ping", url, "--dry-run"])).toEqual([0]);
  expect(await sync(["--ping", url, "--since", "tomorrow?"])).toEqual([2]);
  expect(await sync(["--ping", "http://hc.example/x"])).toEqual([2]);
  expect(await sync(["--ping", url.replace("//", "//user:secret@")])).toEqual([2]);
});

test("sync sends the failure ping if the API denies access to a resource that was synced before", async () => {
  const { brand, env } = await brandOf();
  const { heard, url } = await startSwitch();
  const sync = () => brandapi(["sync", "--quiet", "--ping", url], { env, home: brand.home });
  expect((await sync()).code).toBe(0);
  brand.setKey({ hasAnalyticsPlan: false });
  heard.length = 0;
  expect([(await sync()).code, ...heard]).toEqual([8, "GET /ping/7c1f/start", "POST /ping/7c1f/fail 8"]);
});

test("sync retries a failed ping once, prints a warning, and does not change its exit code", async () => {
  const { brand, env } = await brandOf();
  const { heard, url } = await startSwitch(() => 500);
  const ran = await brandapi(["sync", "orders", "--quiet", "--ping", url], { env, home: brand.home });
  expect(ran.code).toBe(0);
  expect(heard).toHaveLength(4);
  expect(ran.err).toMatch(/^warning: .*HTTP 500\n$/);
});

test("sync warns if the ping is redirected, because redirects are not followed", async () => {
  const { brand, env } = await brandOf();
  const { url } = await startSwitch(() => 302);
  const { code, err } = await brandapi(["sync", "orders", "--quiet", "--ping", url], {
    env,
    home: brand.home,
  });
  expect([code, err]).toEqual([0, expect.stringContaining("HTTP 302")]);
});

test("sync does not print the password from the ping URL if the service is unreachable", async () => {
  const { brand, env } = await brandOf();
  const warned = async (url: string) => {
    const { code, err } = await brandapi("sync orders --quiet", {
      env: { ...env, BRANDAPI_PING: url },
      home: brand.home,
    });
    return [code, err];
  };
  const { server, url } = await startSwitch();
  server.close();
  expect(await warned(url)).toEqual([
    0,
    expect.stringMatching(/^warning: the ping failed: cannot connect to the service: connection refused\n$/),
  ]);
  const [code, err] = await warned("https://user:secret@hc.example/x");
  expect([code, err]).toEqual([0, expect.stringMatching(/^warning: no ping is sent,[^\n]*\n$/)]);
  expect(err).not.toContain("secret");
});

test("after a signal, sync sends the failure ping once, and does not wait for a server that never responds", async () => {
  const brand = makeBrand({ orders: ordersBefore(noon - day, 500, 60_000) });
  const env = await brand.served((requests) => (requests > 2 ? new Promise(() => {}) : undefined));
  const { heard, url } = await startSwitch(() => (heard.length > 1 ? "hang" : 200));
  const run = spawnBrandapi(["sync", "orders", "--ping", url], { env, home: brand.home });
  await until(() => brand.servedCount() > 2);
  run.child.kill("SIGINT");
  const { code } = await run.ended;
  expect([code, ...heard]).toEqual([130, "GET /ping/7c1f/start", "POST /ping/7c1f/fail 130"]);
});

test("after a signal during the start ping, sync sends the failure ping and stops", async () => {
  const { brand, env } = await brandOf();
  const { heard, url } = await startSwitch(() => (heard.length === 1 ? "hang" : 200));
  const run = spawnBrandapi(["sync", "orders", "--ping", url], { env, home: brand.home });
  await until(() => heard.length > 0);
  run.child.kill("SIGTERM");
  const { code, err } = await run.ended;
  expect([code, ...heard]).toEqual([143, "GET /ping/7c1f/start", "POST /ping/7c1f/fail 143"]);
  expect(err).not.toContain("ping");
  expect(brand.servedCount()).toBe(0);
});

test("login --ping stores the URL, and cron adds it to the sync line", async () => {
  const { brand, env } = await brandOf();
  const { heard, url } = await startSwitch();
  const { BRANDAPI_KEY: key = "", ...rest } = env;
  const options = { env: rest, home: brand.home };
  expect((await brandapi(["login", "--key-stdin", "--ping", url], { ...options, stdin: key })).code).toBe(0);
  expect((await brandapi("sync orders", options)).code).toBe(0);
  expect(heard).toEqual(["GET /ping/7c1f/start", "GET /ping/7c1f"]);
  const lines = (await brand.run("cron --ping https://hc.example/x")).out
    .split("\n")
    .filter((line) => /^\d/.test(line));
  expect(lines.map((line) => line.includes("--ping https://hc.example/x"))).toEqual([true, false]);
});

test("sync --all-profiles pings each profile's URL", async () => {
  const { brand, env } = await brandOf();
  const { heard, url } = await startSwitch();
  const { BRANDAPI_KEY: key = "", ...rest } = env;
  const home = brand.home;
  for (const profile of ["aaa", "bbb"]) {
    const flags = ["--key-stdin", "--profile", profile, "--ping", `${url}/${profile}`];
    expect((await brandapi(["login", ...flags], { env: rest, home, stdin: key })).code).toBe(0);
  }
  const path = join(home, ".config/brandapi/config.json");
  writeFileSync(path, readFileSync(path, "utf8").replace(key, "brk_revoked"));
  expect((await brandapi("sync orders --all-profiles", { env: rest, home })).code).toBe(4);
  const at = "/ping/7c1f";
  const first = [`GET ${at}/aaa/start`, `POST ${at}/aaa/fail 4`];
  expect(heard).toEqual([...first, `GET ${at}/bbb/start`, `GET ${at}/bbb`]);
});
