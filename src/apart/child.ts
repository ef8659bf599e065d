import { Worker } from "node:worker_threads";
import { leaveGoneFolder } from "../deps.js";
import { stopCodes } from "../errors.js";
import { watchParts } from "../lib/parts.js";
import { main } from "../main.js";

leaveGoneFolder();

/**
 * The program in a process of its own: see `start.ts`, which alone may end it. A thread watches over it, since SQLite
 * lets this one hear nothing.
 */
const watchdog = new Worker(new URL("./apart-watchdog.js", import.meta.url), { execArgv: [] });
watchdog.unref();
watchParts((parts) => watchdog.postMessage(parts));
for (const name of Object.keys(stopCodes)) process.on(name, () => {});
await main({ isApart: true });
