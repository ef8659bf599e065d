import { startSandbox } from "/work/main/src/sandbox/index.js";
import { systemClock } from "/work/main/src/deps.js";
import { openApi } from "/work/main/src/api/client.js";
import { openMirror } from "/work/main/src/mirror/open.js";
import { syncResources } from "/work/main/src/sync/engine.js";
import { defaultOptions } from "/work/main/src/sync/context.js";
import { resources } from "/work/main/src/resources/index.js";
import { test } from "vitest";
import { rmSync, mkdtempSync } from "node:fs";
test("try", async () => {
  const orders = Number(process.env.N ?? 5000);
  const box = await startSandbox({ rateLimit: null, orders }, { clock: systemClock });
  const dir = mkdtempSync("/tmp/try-");
  const mirror = await openMirror(dir + "/m.sqlite");
  const signal = new AbortController().signal;
  const deps = { clock: systemClock, signal, fetch: globalThis.fetch, random: Math.random, env: {} } as never;
  const api = openApi({ baseUrl: box.baseUrl, key: box.key, rateLimit: null, maxWaitMs: 5000, userAgent: "x", statePath: dir }, deps);
  const reporter = { begin: (t: {name: string}) => ({ update(){}, waiting(){}, end(s: string){ console.log(t.name, s); } }), note: console.log, warn: console.log, detail: console.log };
  for (let i = 0; i < 2; i++) {
    const t = performance.now();
    const r = await syncResources({ mirror, api, clock: systemClock, signal, reporter, options: defaultOptions }, { allowed: resources.filter(r => !process.env.ONLY || r.name === process.env.ONLY), skipped: [], named: true }, () => {});
    for (const f of r.failures) console.log(f);
    console.log("took", performance.now() - t, process.memoryUsage().rss / 1e6);
  }
  for (const row of mirror.db.prepare("select name from sqlite_master where type='table'").pluck().all() as string[]) console.log(row, mirror.db.prepare(`select count(*) from "${row}"`).pluck().get());
  console.log(mirror.db.prepare("select * from coverage").all());
  console.log(mirror.db.pragma("integrity_check"));
  mirror.db.close(); api.close(); await box.close();
}, 600000);
