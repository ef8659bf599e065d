import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { readSingerState, singerSchema, singerValue } from "../../src/export/singer.js";
import { saveInfo } from "../../src/store/database.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, mirrorOfOrders, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

/** The required and optional properties of each message type (singer-io/getting-started, docs/SPEC.md). */
const messages = {
  SCHEMA: {
    required: ["type", "stream", "schema", "key_properties"],
    properties: {
      stream: { type: "string" },
      schema: { type: "object", required: ["properties"] },
      key_properties: { type: "array", items: { type: "string" }, minItems: 1 },
      bookmark_properties: { type: "array", items: { type: "string" } },
    },
  },
  RECORD: {
    required: ["type", "stream", "record"],
    properties: {
      stream: { type: "string" },
      record: { type: "object" },
      time_extracted: { type: "string", format: "date-time" },
      version: { type: "integer" },
    },
  },
  STATE: { required: ["type", "value"], properties: { value: { type: "object" } } },
};

interface Message {
  type: keyof typeof messages;
  stream: string;
  schema: JsonObject;
  key_properties: string[];
  record: JsonObject;
  value: JsonObject;
}

/** A minimal Singer target that validates messages and keeps the newest record for each key. */
function target() {
  const ajv = new Ajv({ strict: false });
  ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
  ajv.addFormat("date", /^\d{4}-\d\d-\d\d$/);
  const streams = new Map<
    string,
    { keys: string[]; rows: Map<string, JsonObject>; check: (one: unknown) => boolean }
  >();
  let state = "{}";
  return {
    streams,
    /** Writes the value of the last STATE message to a file, as a target does when it exits. */
    keepState: (path: string) => writeFileSync(path, `${state}\n`),
    take(out: string): Message[] {
      const lines = out
        .split("\n")
        .slice(0, -1)
        .map((text) => JSON.parse(text) as Message);
      for (const message of lines) {
        const { required, properties } = messages[message.type];
        const own = { ...properties, type: { const: message.type } };
        const isMessage = ajv.validate(
          { type: "object", required, properties: own, additionalProperties: false },
          message,
        );
        expect(isMessage, `${ajv.errorsText()}: ${JSON.stringify(message)}`).toBe(true);
        if (message.type === "SCHEMA") {
          const check = ajv.compile({
            ...message.schema,
            required: message.key_properties,
            additionalProperties: false,
          });
          const rows = streams.get(message.stream)?.rows ?? new Map();
          streams.set(message.stream, { keys: message.key_properties, rows, check });
        }
        if (message.type !== "RECORD") continue;
        const stream = streams.get(message.stream);
        expect(stream?.check(message.record), JSON.stringify([message, stream])).toBe(true);
        stream?.rows.set(JSON.stringify(stream.keys.map((key) => message.record[key])), message.record);
      }
      expect(lines.at(-1)).toMatchObject({ type: "STATE", value: { bookmarks: {} } });
      state = JSON.stringify(lines.at(-1)?.value);
      return lines.filter(({ type }) => type === "RECORD");
    },
    rows: (stream: string, ...columns: string[]) =>
      [...(streams.get(stream)?.rows.values() ?? [])]
        .filter((row) => row._sdc_deleted_at === null)
        .map((row) => columns.map((column) => row[column] ?? null).join(" "))
        .sort(),
  };
}

const at = (n: number) => `2026-11-${String(n).padStart(2, "0")}T00:00:00.000Z`;
const items = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ title: `item ${n} of ${count}`, price: n + 0.5, quantity: 1 }));

test("a Singer target contains the same rows as the mirror after each of many changes", async () => {
  const mirror = await makeMirror();
  const home = makeHome();
  const state = join(home, "state.json");
  const tables = ["orders", "order-line-items", "content", "gifts"];
  const tgt = target();
  const send = async () => {
    tgt.keepState(state);
    const run = await brandapi(["export", ...tables, "--singer", "--state", state, "--db", mirror.path]);
    expect(run).toMatchObject({ code: 0, err: "" });
    const sent = tgt.take(run.out).map(({ stream, record }) => `${stream} ${record.id ?? record.order_id}`);
    const sql = (text: string) =>
      (mirror.db.prepare(text).raw().all() as unknown[][]).map((row) => row.join(" ")).sort();
    expect(tgt.rows("orders", "id", "refund_amount", "currency")).toEqual(
      sql("SELECT id, refund_amount, currency FROM orders"),
    );
    expect(tgt.rows("order_line_items", "order_id", "position", "title")).toEqual(
      sql("SELECT order_id, position, title FROM order_line_items"),
    );
    expect(tgt.rows("gifts", "record_key", "note")).toEqual(
      sql("SELECT r.key, g.note FROM gifts AS g JOIN records AS r USING (record_id)"),
    );
    return sent;
  };
  const read = (n: number, orders: JsonObject[], remove: string[] = []) =>
    writeRead(mirror, "orders", orders, { at: at(n), remove });
  read(1, [anOrder(1, { line_items: items(3) }), anOrder(2, { line_items: items(2) }), anOrder(3)]);
  writeRead(
    mirror,
    "content",
    [
      { source: "a", id: "1" },
      { source: "b", id: "1" },
    ],
    { at: at(1) },
  );
  writeRead(mirror, "gifts", [{ id: 7, note: "x" }, { note: "no id" }], { at: at(1) });
  expect(await send()).toHaveLength(3 + 6 + 2 + 2);
  expect([...tgt.streams.values()].map(({ keys }) => keys.join(" "))).toEqual([
    "id",
    "order_id position",
    "source id",
    "record_key",
  ]);
  expect(tgt.rows("content", "source", "id")).toEqual(["a 1", "b 1"]);
  expect(await send()).toEqual([]);
  read(2, [anOrder(1, { line_items: items(3), refund_amount: 5 })]);
  expect(await send()).toEqual(["orders order-1", ...Array(3).fill("order_line_items order-1")]);
  read(3, [anOrder(1, { line_items: items(1), refund_amount: 5 }), anOrder(4)]);
  read(4, [anOrder(1, { line_items: [], refund_amount: 5 })]);
  expect((await send()).filter((one) => one.endsWith("items order-1"))).toHaveLength(3);
  read(5, [], ["order-2"]);
  expect(await send()).toEqual(["orders order-2", ...Array(2).fill("order_line_items order-2")]);
  read(6, [anOrder(2, { line_items: items(1), currency: "USD" })]);
  expect(await send()).toEqual(["orders order-2", ...Array(2).fill("order_line_items order-2")]);
  writeRead(mirror, "gifts", [{ id: 7, note: "y", color: "red" }], { at: at(7) });
  expect(await send()).toHaveLength(2);
  expect(await send()).toEqual([]);
  mirror.db.close();
});

test("a Singer export marks a removed list item as deleted, even if the same sync adds a new column", async () => {
  const mirror = await makeMirror();
  const state = join(makeHome(), "state.json");
  const tgt = target();
  const products = (count: number, more: JsonObject = {}) =>
    Array.from({ length: count }, (_, n) => ({ id: `p${n}`, title: "x", ...more }));
  const send = async (...lists: JsonObject[][]) => {
    const records = lists.map((list, n) => ({ host: { id: `h${n}` }, products: list }));
    writeRead(mirror, "recommendations", records);
    tgt.keepState(state);
    const words = ["export", "recommendation-products", "--singer", "--state", state, "--db", mirror.path];
    tgt.take((await brandapi(words)).out);
    return tgt.rows("recommendation_products", "host_id", "position");
  };
  expect(await send(products(3), products(2))).toEqual(["h0 0", "h0 1", "h0 2", "h1 0", "h1 1"]);
  expect(await send(products(2, { note: "!" }), products(2))).toEqual(["h0 0", "h0 1", "h1 0", "h1 1"]);
  mirror.db.close();
});

test.each([
  ["timestamp", "string", "date-time"],
  ["date", "string", "date"],
  ["integer", "integer"],
  ["number", "number"],
  ["boolean", "boolean"],
  ["text", "string"],
  ["json", "string"],
  ["any", "string"],
] as const)(
  "a Singer schema declares a column of type `%s` as the JSON type %s",
  (type, jsonType, format?) => {
    const more = format ? { format } : {};
    expect(singerSchema(type, false)).toEqual({ type: ["null", jsonType], ...more });
    expect(singerSchema(type, true)).toEqual({ type: [jsonType], ...more });
  },
);

test.each([
  ["boolean", 0, false],
  ["boolean", 1, true],
  ["integer", 7, 7],
  ["number", 7.5, 7.5],
  ["date", "2026-12-24", "2026-12-24"],
  ["timestamp", "2026-10-01T12:00:00+02:00", "2026-10-01T12:00:00+02:00"],
  ["timestamp", "2026-10-01T12:00:00.123456Z", "2026-10-01T12:00:00.123456Z"],
  ["timestamp", "2026-10-01T12:00:00-0200", "2026-10-01T14:00:00.000Z"],
  ["timestamp", "2026-10-01T12:00:00", "2026-10-01T12:00:00.000Z"],
  ["timestamp", "2026-10-01", "2026-10-01T00:00:00.000Z"],
  ["integer", -7, -7],
  ["number", 0, 0],
  ["any", 7, "7"],
  ["json", "[7]", "[7]"],
] as const)("a Singer export of a column of type `%s` sends %j as %j", (type, value, sent) => {
  expect(singerValue(value, type)).toBe(sent);
});

test.each([
  ["boolean", 2],
  ["boolean", "1"],
  ["integer", 7.5],
  ["integer", "7"],
  ["number", "7.5"],
  ["number", Number.POSITIVE_INFINITY],
  ["date", "2026-02-30"],
  ["timestamp", "soon"],
] as const)(
  "a Singer export of a column of type `%s` does not send %o, which is invalid for this type",
  (type, value) => {
    expect(singerValue(value, type)).toBeUndefined();
  },
);

test("a Singer export sends an unreadable timestamp as null and prints a warning", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { order_date: "soon" }),
    anOrder(2, { order_date: "2026-10-01 12:00" }),
  ]);
  mirror.db.close();
  const run = await brandapi(["export", "orders", "--singer", "--db", mirror.path]);
  expect(run.err).toContain("sent 1 value in `orders` as null because the type does not match the column");
  const [first, second] = target().take(run.out);
  expect([first?.record.order_date, second?.record.order_date]).toEqual([null, "2026-10-01T12:00:00.000Z"]);
});

test("a Singer export sends all rows if the state belongs to a different mirror", async () => {
  const home = makeHome();
  const tgt = target();
  const sendFrom = async (db: string) => {
    tgt.keepState(join(home, "state.json"));
    const args = ["export", "orders", "--singer", "--state", "state.json", "--db", db];
    return tgt.take((await brandapi(args, { home })).out);
  };
  expect(await sendFrom(await mirrorOfOrders(5))).toHaveLength(5);
  const other = await makeMirror();
  writeRead(other, "orders", [anOrder(1), anOrder(2)], { at: at(9) });
  other.db.close();
  expect(await sendFrom(other.path)).toHaveLength(2);
  expect(await sendFrom(other.path)).toEqual([]);
});

test("a Singer export resends all rows after `forget`, so that targets overwrite the host's names", async () => {
  const home = makeHome();
  const host = { id: "host-to-forget", username: "ada", first_name: "Ada", last_name: "Lovelace" };
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { host }), anOrder(2)], { at: at(1) });
  const tgt = target();
  const send = async () => {
    tgt.keepState(join(home, "state.json"));
    const args = ["export", "orders", "--singer", "--state", "state.json", "--db", mirror.path];
    return tgt.take((await brandapi(args, { home })).out);
  };
  expect(await send()).toHaveLength(2);
  expect(tgt.rows("orders", "host_id", "host_username")).toContain("host-to-forget ada");
  mirror.db.close();
  await brandapi(["forget", "--host", host.id, "--yes", "--db", mirror.path], { home });
  expect(await send()).toHaveLength(2);
  expect(tgt.rows("orders", "host_id", "host_username")).toContain("host-to-forget ");
  expect(await send()).toEqual([]);
});

test("a Singer export never writes to the state file, so that rows are resent if the target fails", async () => {
  const db = await mirrorOfOrders(3);
  const home = makeHome();
  const state = join(home, "state.json");
  const run = async () =>
    await brandapi(["export", "orders", "--singer", "--state", "state.json", "--db", db], { home });
  for (const text of ["{}", '{"bookmarks":{}}\n']) {
    writeFileSync(state, text);
    expect(target().take((await run()).out)).toHaveLength(3);
    expect(readFileSync(state, "utf8")).toBe(text);
    expect(readdirSync(home)).toEqual(["state.json"]);
  }
  const tgt = target();
  tgt.take((await run()).out);
  tgt.keepState(state);
  expect(tgt.take((await run()).out)).toEqual([]);
});

const bookmark = { run: "1 2026", record_id: 1, version_id: 1, columns: "abc" };
const state = (orders: unknown) => JSON.stringify({ bookmarks: { orders } });

test.each([
  ["an empty object", "{}", {}],
  ["an empty bookmarks object, surrounded by whitespace", ' {"bookmarks": {}}\n', {}],
  ["a STATE message", '{"type": "STATE", "value": {}}', {}],
  ["a bookmark", state(bookmark), { orders: bookmark }],
  ["a bookmark with an unknown field", state({ ...bookmark, more: 1 }), { orders: { ...bookmark, more: 1 } }],
])("a Singer export accepts a state file that contains %s", (_, text, bookmarks) => {
  const path = join(makeHome(), "state.json");
  writeFileSync(path, text);
  expect(readSingerState(path)).toEqual(bookmarks);
});

test.each([
  ["an array", "[]"],
  ["a number", "1"],
  ["truncated JSON", "{"],
  ["a RECORD message", '{"type": "RECORD", "value": {}}'],
  ["a STATE message with a number as its value", '{"type": "STATE", "value": 5}'],
  ["a start date instead of bookmarks", '{"start_date": "2026"}'],
  ["an array of bookmarks", '{"bookmarks": []}'],
  ["a number as a bookmark", '{"bookmarks": {"orders": 5}}'],
  ["a bookmark with a number as its `run`", state({ ...bookmark, run: 1 })],
  ["a bookmark with null as its `columns`", state({ ...bookmark, columns: null })],
  ["a bookmark with a string as its `record_id`", state({ ...bookmark, record_id: "1" })],
  ["a bookmark with a fraction as its `version_id`", state({ ...bookmark, version_id: 1.5 })],
  [
    "an empty bookmark after a valid bookmark",
    JSON.stringify({ bookmarks: { roster: bookmark, orders: {} } }),
  ],
])("a Singer export rejects a state file that contains %s", (_, text) => {
  const path = join(makeHome(), "state.json");
  writeFileSync(path, text);
  expect(() => readSingerState(path)).toThrow("does not contain a state");
});

test("a Singer export resumes from a state file that contains the last STATE message of the previous export", async () => {
  const home = makeHome();
  const db = await mirrorOfOrders(2);
  const words = ["export", "orders", "--singer", "--state", "state.json", "--db", db];
  writeFileSync(join(home, "state.json"), "{}");
  const state = (await brandapi(words, { home })).out.trim().split("\n").at(-1);
  writeFileSync(join(home, "state.json"), `${state}\n`);
  expect(target().take((await brandapi(words, { home })).out)).toEqual([]);
});

test.each([
  ["orders", "id"],
  ["order_line_items", "order_id and position"],
  ["recommendations", "host_id"],
  ["recommendation_products", "host_id and position"],
  ["content", "source and id"],
  ["gifts", "record_key"],
  ["analytics_hosts", "record_key"],
  ["analytics_clicks", "record_key and position"],
])("a Singer export identifies the rows of `%s` by %s", async (name, keys) => {
  const mirror = await makeMirror();
  writeRead(mirror, "gifts", [{ id: 1, record_key: "not the key" }], { whole: true });
  for (const resource of ["orders", "recommendations", "content", "analytics-hosts", "analytics-clicks"])
    writeRead(mirror, resource, [], { whole: true });
  mirror.db.close();
  const { out } = await brandapi(["export", name, "--singer", "--db", mirror.path]);
  const [schema] = out.split("\n");
  expect(JSON.parse(schema ?? "").key_properties.join(" and ")).toBe(keys);
  const [record] = target().take(out);
  if (name === "gifts") expect(record?.record.record_key).toBe("1");
});

test("a Singer export sends the ID of each host, even if the profile omits the `host` field", async () => {
  const mirror = await makeMirror();
  mirror.transaction(() => saveInfo(mirror, "omit", '["host"]'));
  writeRead(mirror, "recommendations", [{ host: { id: "h" }, products: [] }]);
  mirror.db.close();
  const { out } = await brandapi(["export", "recommendations", "--singer", "--db", mirror.path]);
  expect(
    target()
      .take(out)
      .map(({ record }) => record.host_id),
  ).toEqual(["h"]);
});

test("a Singer export always sends all rows of a table that has no history", async () => {
  const home = makeHome();
  const mirror = await makeMirror();
  writeRead(mirror, "analytics-hosts", [{ host: { id: "h" }, clicks: 1 }], { parameters: { position: 0 } });
  mirror.db.close();
  const tgt = target();
  for (let n = 0; n < 2; n += 1) {
    tgt.keepState(join(home, "state.json"));
    const words = ["export", "analytics-hosts", "--singer", "--state", "state.json", "--db", mirror.path];
    expect(tgt.take((await brandapi(words, { home })).out)).toHaveLength(1);
  }
});

test("a Singer export preserves the bookmarks of tables that are not exported", async () => {
  const db = await mirrorOfOrders(1);
  const home = makeHome();
  const tgt = target();
  const run = async (table: string) => {
    tgt.keepState(join(home, "state.json"));
    const args = ["export", table, "--singer", "--state", "state.json", "--db", db];
    return tgt.take((await brandapi(args, { home })).out);
  };
  expect(await run("orders")).toHaveLength(1);
  expect(await run("order-line-items")).toHaveLength(1);
  expect(await run("orders")).toEqual([]);
});

test("--state selects the Singer format if no format is given", async () => {
  const home = makeHome();
  writeFileSync(join(home, "state.json"), "{}");
  const args = ["export", "orders", "--state", "state.json", "--db", await mirrorOfOrders(1)];
  expect(await brandapi(args, { home })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^{"type":"SCHEMA"/),
  });
});

test.each([
  ["orders --singer --since 7d", 2, "cannot be used with option `--since <time>`"],
  ["orders --singer --as-of 7d", 2, "cannot be used with option `--as-of <time>`"],
  ["orders --csv --state s", 2, "`--state <file>` cannot be used with option `--csv`"],
  ["sales_by_month --singer", 2, "only tables built from API records, not `sales_by_month`"],
  ["changes --singer", 2, "only tables built from API records, not `changes`"],
  ["orders-removed --singer", 2, "only tables built from API records, not `orders_removed`"],
  [
    "orders --singer --state json-list.json",
    3,
    "does not contain a state written by `brandapi export --singer`",
  ],
  [
    "orders --singer --state bookmark-of-another-program.json",
    3,
    "does not contain a state written by `brandapi export --singer`",
  ],
  [
    "orders --singer --state object-without-bookmarks.json",
    3,
    "does not contain a state written by `brandapi export --singer`",
  ],
  ["orders --singer --state empty.json", 3, "The state file is empty"],
  ["orders --singer --state nonexistent.json", 3, "The state file does not exist"],
  ["orders --singer --state .", 3, "The state file cannot be read (it is a folder)"],
])("`export %s` exits with code %i, writes nothing and reports: %s", async (words, code, message) => {
  const home = makeHome();
  writeFileSync(join(home, "json-list.json"), "[]");
  writeFileSync(
    join(home, "bookmark-of-another-program.json"),
    '{"bookmarks":{"orders":{"updated_at":"2026-01-01"}}}',
  );
  writeFileSync(join(home, "object-without-bookmarks.json"), '{"start_date":"2026-01-01"}');
  writeFileSync(join(home, "empty.json"), "\n");
  const run = await brandapi(["export", ...words.split(" "), "--db", await mirrorOfOrders(1)], {
    home,
  });
  expect(run).toMatchObject({ code, out: "", err: expect.stringContaining(message) });
  expect(readFileSync(join(home, "json-list.json"), "utf8")).toBe("[]");
});
