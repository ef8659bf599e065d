import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { commands } from "../src/commands/index.js";

/**
 * The import rules of src/README.md. A layer may import itself, what stands to its right, and the few files that
 * everyone may use. What breaks a rule is named with the rule and the reason.
 */
const root = fileURLToPath(new URL("..", import.meta.url));

/** What each room of src may import from, besides itself and `common`. Files at the top of src are rooms of their own. */
const mayImport: Record<string, readonly string[]> = {
  resources: [],
  api: ["resources"],
  mirror: ["resources"],
  records: ["mirror", "resources"],
  state: ["mirror", "resources"],
  query: ["mirror", "records", "state", "resources"],
  sync: ["api", "records", "state", "mirror", "resources", "reporter"],
  verify: ["sync", "api", "records", "state", "mirror", "resources", "reporter"],
  export: ["mirror", "records", "query", "resources", "reporter", "parts"],
  download: ["api", "mirror", "records", "query", "resources", "reporter"],
  doctor: ["mirror", "records", "query", "resources", "config", "options", "failures", "ui/numbers"],
  report: ["mirror", "query", "ui"],
  sandbox: [],
  ui: ["reporter"],
  config: ["paths", "options"],
  "config.ts": ["config", "paths", "options"],
  commands: [
    "api",
    "mirror",
    "records",
    "state",
    "query",
    "resources",
    "sync",
    "verify",
    "export",
    "download",
    "doctor",
    "report",
    "sandbox",
    "ui",
    "config",
    "options",
    "paths",
    "reporter",
    "usage",
    "hint",
  ],
  "usage.ts": ["commands"],
  "program.ts": ["commands", "help", "usage", "ui"],
  "help.ts": [],
  "man-page.ts": ["commands"],
  "failures.ts": [],
  "hint.ts": ["options"],
  "run.ts": ["program", "failures", "hint", "config", "commands/shells", "ui"],
  "main.ts": ["run", "api/transport", "memory", "signals", "apart/start"],
  "signals.ts": ["parts", "ui/cursor"],
  "parts.ts": [],
  apart: ["main", "parts"],
  "memory.ts": [],
  "options.ts": [],
  "reporter.ts": [],
  "paths.ts": [],
};

/** Pure or declared once: any layer may use them. */
const common = [
  "errors",
  "deps",
  "times",
  "ranges",
  "exact",
  "secrets",
  "nearest",
  "free-name",
  "shell",
  "counted",
  "system-errors",
  "make-folder",
  "in-parts",
  "version",
  "loopback",
  "sqlite",
];

/** Rooms that are entered by their `index.ts` alone: it says what others may use, and the rest can be rewritten. */
const doors = ["mirror", "records", "state", "query"];

/** The rooms that own tables. A statement of SQL anywhere else would be a second place that knows their columns. */
const ownTables = ["mirror", "records", "state", "query"];
/** Files that own tables of their own, or run what is not theirs, and why. */
const ownSql: Record<string, string> = {
  "api/ledger.ts": "the rate budget has a database of its own, which all mirrors and processes share",
  "download/catalogue.ts": "it owns `content_downloads`: what was fetched, which no sync touches",
};

const why: Record<string, string> = {
  api: "api knows HTTP and no table, so that it can be read and tested without a mirror",
  mirror: "mirror is the file: it knows no HTTP, so that everything works offline, and no record's meaning",
  records:
    "records stand on the file alone: what a sync remembers and what people read can change without them",
  state: "what a sync remembers stands on the file alone, so that it can be read and tested without a record",
  query: "reading for people stands above records and state, and no sync depends on how they read",
  resources: "resources are pure data: every layer is built on them",
  sandbox: "the sandbox shares nothing with the client but the API document, or both would be wrong together",
  sync: "engines know no command and no screen: they report through an interface",
  verify: "verify judges by the evidence that a sync goes by: it may use sync, which must work without it",
};

interface Import {
  file: string;
  room: string;
  target: string;
  targetRoom: string;
  /** A type, or a file that is loaded when something runs: not with the file that imports it. */
  isType: boolean;
}

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }));

/** `src/sync/seek.ts` is in the room `sync`, `src/run.ts` in a room of its own. */
function roomOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : file;
}

function importsOf({ file, text }: { file: string; text: string }): Import[] {
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s+)?[^;"']*?from\s+"([^"]+)"/gm),
    ...text.matchAll(/\b(?:await\s+)?import\(()"([^"]+)"\)/g),
  ];
  return found
    .filter(([, , target]) => target?.startsWith("."))
    .map(([, type, target]) => {
      const path = relative(join(root, "src"), join(root, "src", dirname(file), target ?? ""));
      return {
        file,
        room: roomOf(file),
        target: path.replace(/\.js$/, ""),
        targetRoom: roomOf(path.replace(/\.js$/, ".ts")),
        isType: type !== undefined,
      };
    });
}

function isAllowed({ room, target, targetRoom, isType }: Import): boolean {
  if (room === targetRoom) return true;
  if (common.includes(target) && (target !== "deps" || isType || ["main.ts", "apart"].includes(room)))
    return true;
  const rules = mayImport[room] ?? [];
  return rules.some((rule) => target === rule || target.startsWith(`${rule}/`));
}

test("each layer imports only what stands below it", () => {
  const broken = files
    .flatMap(importsOf)
    .filter((one) => !isAllowed(one))
    .map(({ file, room, target, targetRoom }) => {
      const reason =
        why[room] ??
        why[targetRoom.replace(".ts", "")] ??
        "dependencies point one way: bin -> main -> run -> program -> commands -> engines -> {api, records, state, query} -> mirror -> resources";
      const allowed = [...(mayImport[room] ?? []), ...common].join(", ");
      return `src/${file} imports src/${target}, but ${room} may import only ${allowed} (${reason})`;
    });
  expect(broken).toEqual([]);
});

test("every room of src has an import rule, and every rule a room", () => {
  const rooms = new Set(files.map(({ file }) => roomOf(file)));
  const ruled = [...Object.keys(mayImport), ...common.map((name) => `${name}.ts`)];
  expect([...rooms].filter((room) => !ruled.includes(room))).toEqual([]);
  expect(ruled.filter((room) => !rooms.has(room))).toEqual([]);
});

/** What help tells of a room before anything of it is loaded. */
const forHelpAlone = ["query/names"];

test.each(doors)("%s is entered by its door", (room) => {
  const broken = files
    .flatMap(importsOf)
    .filter((one) => one.room !== room && one.targetRoom === room && one.target !== `${room}/index`)
    .filter((one) => !(one.room === "commands" && forHelpAlone.includes(one.target)))
    .map(
      ({ file, target }) =>
        `src/${file} imports src/${target}.ts: take it from src/${room}/index.ts, or add it there (the door says what others may use, so that the rest of the room is free to change)`,
    );
  expect(broken).toEqual([]);
});

test("SQL stands in the rooms that own tables, and nowhere else", () => {
  const isFree = (file: string) => ownTables.includes(roomOf(file)) || Object.hasOwn(ownSql, file);
  const sql = (text: string) => /\.prepare\(|\bdb\s*\.exec\(|\.exec\(\s*["'`]/.test(codeOnly(text));
  const broken = files
    .filter(({ file, text }) => !isFree(file) && sql(text))
    .map(
      ({ file }) =>
        `src/${file} has a statement of its own: ask ${ownTables.join(", ")} for it (one place knows a table's columns)`,
    );
  expect(broken).toEqual([]);
  const unused = Object.keys(ownSql).filter(
    (name) => !files.some(({ file, text }) => file === name && sql(text)),
  );
  expect(unused).toEqual([]);
});

test("what is kept in a mirror is kept by `mirror.transaction`, which looks first whether the file is still there", () => {
  const broken = files
    .filter(({ file }) => !["api/ledger.ts", "mirror/transaction.ts"].includes(file))
    .filter(({ text }) => /\bdb\s*\.transaction\(/.test(codeOnly(text)))
    .map(({ file }) => `src/${file} has a transaction of its own: use \`mirror.transaction\``);
  expect(broken).toEqual([]);
});

test("no two files import each other in a circle, types aside", () => {
  const graph = new Map(
    files.map((one) => [
      one.file.replace(/\.ts$/, ""),
      importsOf(one)
        .filter(({ isType }) => !isType)
        .map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (done.has(file) || path.includes(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(circles).toEqual([]);
});

describe("the outside world comes in through src/deps.ts", () => {
  const outside: [name: string, pattern: RegExp, instead: string][] = [
    ["process", /(?<![.\w"'`/-])process\b(?=[.[])/, "deps.env, deps.stdout, deps.platform, …"],
    ["console", /(?<![.\w])console\s*\./, "deps.stdout, or the reporter"],
    ["Date.now()", /\bDate\.now\b/, "deps.clock.now()"],
    ["new Date() of now", /\bnew Date\(\s*\)/, "deps.clock.now()"],
    ["performance", /(?<![.\w])performance\./, "deps.clock.monotonic()"],
    ["Math.random", /\bMath\.random\b/, "deps.random()"],
    ["fetch", /(?<![.\w"'`])(?:globalThis\.)?fetch\((?!\w+\()/, "deps.fetch"],
    ["timers", /(?<![.\w])(?:setTimeout|setInterval|setImmediate)\b|node:timers/, "deps.clock.sleep()"],
  ];
  /** Where the real ones are taken from, what is about processes, and the screen, whose bars move by themselves. */
  const free = /^(deps|main|signals|parts)\.ts|^(apart|ui)\//;
  /** Makes the real `fetch` that main hands to deps, with its time-outs and proxies. */
  const makesFetch = "api/transport.ts";

  test.each(outside)("%s", (name, pattern, instead) => {
    const broken = files
      .filter(({ file }) => !free.test(file) && !(name === "fetch" && file === makesFetch))
      .flatMap(({ file, text }) =>
        codeOnly(text)
          .split("\n")
          .flatMap((line, index) => (pattern.test(line) ? [`src/${file}:${index + 1}: ${line.trim()}`] : [])),
      )
      .filter((line) => !(name === "fetch" && takesFetchFromDeps(line)))
      .map((line) => `${line}  (use ${instead}: tests and other clocks pass their own)`);
    expect(broken).toEqual([]);
  });

  /** A parameter or a member of `deps` that bears the same name. */
  function takesFetchFromDeps(line: string): boolean {
    const file = /^src\/([^:]+):/.exec(line)?.[1];
    const text = files.find((one) => one.file === file)?.text ?? "";
    return /\{[^}]*\bfetch\b[^}]*\}\s*(?:=|:)\s*|\bfetch\s*:\s*Fetch|const fetch\b|import \{[^}]*\bfetch\b/.test(
      text,
    );
  }
});

describe("a verb is one file in src/commands", () => {
  const rule =
    "a verb is one file: options, command, run; what help does not need is imported where it runs, and what " +
    "verbs share is a file named for what it holds, never for a verb";
  /** What help tells of tables, formats and the sandbox, and how a verb prints: all that it may load besides. */
  const forHelp = [
    ...["export/formats/index", "query/names", "query/views/names", "sandbox/choices"],
    ...["ui/cursor", "ui/data", "ui/numbers", "ui/table", "ui/text", "ui/width"],
  ];
  const own = files.filter(({ file }) => roomOf(file) === "commands");

  test("named for the verb, with no second file, and at most 200 lines long", () => {
    const names = own.map(({ file }) => file.replace(/^commands\/|\.ts$/g, ""));
    const broken = commands.flatMap(({ name }) => [
      ...(names.includes(name) ? [] : [`there is no src/commands/${name}.ts`]),
      ...names
        .filter((one) => one.startsWith(`${name}-`))
        .map((one) => `src/commands/${one}.ts is a part of ${name}`),
    ]);
    const long = own
      .filter(({ text }) => text.split("\n").length - 1 > 200)
      .map(({ file }) => `src/${file} is longer than 200 lines`);
    expect([...broken, ...long].map((what) => `${what} (${rule})`)).toEqual([]);
  });

  test("help loads no engine, and no package but commander", () => {
    const isFree = (target: string) =>
      !target.includes("/") || /^(commands|resources)\//.test(target) || forHelp.includes(target);
    const loaded = new Set(["main"]);
    const broken: string[] = [];
    for (const name of loaded) {
      const one = files.find(({ file }) => file === `${name}.ts`);
      if (!one) continue;
      for (const [, type, target] of one.text.matchAll(/^import\s+(type\s+)?[^;"']*?from\s+"([^.:"]+)"/gm))
        if (!type && target !== "commander") broken.push(`src/${one.file} imports ${target} (${rule})`);
      for (const { target, isType } of importsOf(one)) {
        if (isType) continue;
        if (isFree(target)) loaded.add(target);
        else broken.push(`src/${one.file} imports src/${target}.ts at its top (${rule})`);
      }
    }
    expect(broken).toEqual([]);
    expect(forHelp.filter((target) => !loaded.has(target))).toEqual([]);
  });
});

test("no file is longer than 250 lines", () => {
  const long = files
    .map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > 250)
    .map(({ file, lines }) => `src/${file} has ${lines} lines: one idea per file, split it`);
  expect(long).toEqual([]);
});

function codeOnly(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(/(^|\s)\/\/.*$/gm, "$1")
    .replace(/"(?!node:)(?:[^"\\\n]|\\.)*"/g, '""');
}
