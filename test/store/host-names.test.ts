import { expect, test } from "vitest";
import { content } from "../../src/resources/content.js";
import { orders } from "../../src/resources/orders.js";
import { recommendations } from "../../src/resources/recommendations.js";
import { roster } from "../../src/resources/roster.js";
import { type Mirror, saveJsonInfo } from "../../src/store/database.js";
import { HostNames, loadHosts, rebuildHostNames } from "../../src/store/host-names.js";
import { openMirror } from "../../src/store/open.js";
import type { Json, JsonObject } from "../../src/util/json-value.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { order, rows, write } from "./record-mirror.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const ms = (day: number) => Date.parse(at(day));
const ada = (last_name: Json, first_name: Json = "Ada") => ({
  id: "h1",
  username: "ada",
  first_name,
  last_name,
});
const namesOf = (mirror: Mirror) =>
  rows<{ read_at: string; username: string | null; name: string | null }>(
    mirror,
    "SELECT read_at, username, name FROM host_names ORDER BY host_id, read_at",
  ).map((row) => `${row.read_at.slice(8, 10)} ${row.username} ${row.name}`);

test.each<[string, Json, string]>([
  ["the first and the last name if both are present", ada("Lace"), "01 ada Ada Lace"],
  ["the first name if the last name is null", ada(null), "01 ada Ada"],
  ["the last name if the first name is null", ada("Lace", null), "01 ada Lace"],
  ["the first name if the last name is empty", ada(""), "01 ada Ada"],
  [
    "the first and the last name even if a display name is present",
    { ...ada("Lace"), name: "A." },
    "01 ada Ada Lace",
  ],
  [
    "the display name if the first and the last name are null",
    { ...ada(null, null), name: "A." },
    "01 ada A.",
  ],
  [
    "null if none of the names is a string",
    { id: "h1", username: 5, first_name: 6, last_name: 7, name: 8 },
    "01 null null",
  ],
])("the stored name of a host is %s", async (_, host, expected) => {
  const mirror = await makeMirror();
  write(mirror, content, [{ source: "upload", id: "f", created_at: at(1), host }], { requestedAt: ms(1) });
  expect(namesOf(mirror)).toEqual([expected]);
});

test.each<[string, JsonObject]>([
  ["a record without a host", { host: null }],
  ["a host without an ID", { host: { username: "ada" } }],
  ["a host whose ID is not a string", { host: { id: 5, username: "ada" } }],
])("no host name is stored for %s", async (_, fields) => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", fields)]);
  expect(namesOf(mirror)).toEqual([]);
});

test("a host's display name is not stored if last names are omitted", async () => {
  const mirror = await makeMirror();
  mirror.transaction(() => saveJsonInfo(mirror, "omit", ["last_name"]));
  write(mirror, content, [
    { source: "upload", id: "f", host: { id: "h1", username: "ada", name: "Ada Lace" } },
  ]);
  expect(namesOf(mirror)).toEqual(["01 ada null"]);
});

test("if a response contains several names for a host, the first name is stored; a response without a name changes only the username", async () => {
  const mirror = await makeMirror();
  const send = (day: number, ...hosts: Json[]) =>
    write(
      mirror,
      orders,
      hosts.map((host, n) => order(`o${day}-${n}`, { host })),
      { requestedAt: ms(day) },
    );
  send(2, ada("Lace"), ada("Old"));
  send(3, ada("Lace"));
  send(1, ada("Earlier"));
  send(4, { id: "h1", username: "ada2" });
  send(5, { ...ada("New"), username: "ada2" }, { ...ada("New"), username: "ada3" });
  send(6, { ...ada("New"), username: "ada2" });
  send(7, { id: "h1", username: null });
  const expected = ["02 ada Ada Lace", "04 ada2 Ada Lace", "05 ada2 Ada New", "07 null Ada New"];
  expect(namesOf(mirror)).toEqual(expected);
  const names = new HostNames(mirror);
  mirror.transaction(() => {
    for (const day of [8, 9]) names.addFrom({ host: ada("Next") }, at(day));
  });
  expect(namesOf(mirror)).toEqual([...expected, "08 ada Ada Next"]);
});

test("rebuilding the host names restores all names from current and earlier record versions, in the order in which they were read", async () => {
  const mirror = await makeMirror();
  const send = (day: number, key: string, last: string) =>
    writeRead(mirror, "orders", [order(key, { host: ada(last) })], { at: at(day) });
  send(1, "o1", "First");
  send(2, "o2", "Second");
  send(3, "o1", "Third");
  send(4, "o3", "Second");
  const before = namesOf(mirror);
  expect(before).toEqual(["01 ada Ada First", "02 ada Ada Second", "03 ada Ada Third", "04 ada Ada Second"]);
  mirror.transaction(() => {
    mirror.execute("UPDATE host_names SET name = 'wrong'");
    rebuildHostNames(mirror);
  });
  expect(namesOf(mirror)).toEqual(before);
});

test("opening a mirror rebuilds the host names only if they were derived by a different version of the rules", async () => {
  const mirror = await makeMirror();
  write(mirror, orders, [order("o1", { host: ada("Lace") })]);
  mirror.db.exec("UPDATE host_names SET name = 'wrong'");
  (await openMirror(mirror.path)).db.close();
  expect(namesOf(mirror)).toEqual(["01 ada wrong"]);
  mirror.db.exec("UPDATE mirror_info SET value = 'older' WHERE name = 'host_names'");
  (await openMirror(mirror.path)).db.close();
  expect(namesOf(mirror)).toEqual(["01 ada Ada Lace"]);
});

test("loadHosts returns every host in current and earlier record versions, with the host's newest name and all its handles, current handle first", async () => {
  const mirror = await makeMirror();
  const host = (username: string, first_name: string | null) => ({
    id: "h1",
    username,
    first_name,
    last_name: null,
  });
  writeRead(mirror, "orders", [order("o1", { host: host("first", "Old") })], { at: at(1) });
  writeRead(mirror, "orders", [order("o1", { host: host("second", null) })], { at: at(3) });
  writeRead(mirror, "orders", [order("o1", { host: { id: 7, username: null } })], { at: at(4) });
  for (const [day, relationship_id, name] of [
    [1, "r1", "Ada"],
    [2, "r2", "Eve"],
    [3, "r1", "Ada"],
  ] as const)
    write(mirror, roster, [{ relationship_id, status: `${day}`, host: host("current", name) }], {
      requestedAt: ms(day),
    });
  write(mirror, recommendations, [
    { host: { id: "h2", name: "Bo" }, products: [{ host_id: "h3", host_username: "cy" }] },
  ]);
  expect(loadHosts(mirror).sort((a, b) => a.id.localeCompare(b.id))).toEqual([
    { id: "7", handles: [], name: null },
    { id: "h1", handles: ["current", "second", "first"], name: "Ada" },
    { id: "h2", handles: [], name: "Bo" },
    { id: "h3", handles: ["cy"], name: null },
  ]);
});
