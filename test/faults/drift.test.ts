import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import type { Sandbox } from "../support/old-sandbox/index.js";
import { sandboxForTest } from "../support/sandbox.js";
import { expectEqual, expectSeen, runAt } from "./matrix.js";

const day = 86_400_000;
const at = Date.UTC(2026, 10, 21, 12);

/** The orders as listed, newest first. */
const listed = (sandbox: Sandbox) => [...sandbox.records("orders")] as { id: string; order_date: string }[];
const nth = (sandbox: Sandbox, place: number) => listed(sandbox)[place]?.id ?? "";
const quiet = (orders = 350) => sandboxForTest({ orders, pace: 0, now: at });

/** What happens once, while the second page of a first read is asked for; pages hold 100 of 350 orders. */
const once: [name: string, happen: (sandbox: Sandbox) => void][] = [
  ["a row is inserted above, so that rows move to later pages", (s) => s.events.lateOrder(at - day)],
  ["a row is inserted below", (s) => s.events.lateOrder(at - 700 * day)],
  [
    "a row on a page already read is withdrawn, so that one slips past the reader",
    (s) => s.events.withdraw(nth(s, 5)),
  ],
  ["a row below is withdrawn", (s) => s.events.withdraw(nth(s, 320))],
  [
    "one row above is withdrawn and one below is added: the count stays",
    (s) => {
      s.events.withdraw(nth(s, 5));
      s.events.lateOrder(at - 700 * day);
    },
  ],
  [
    "two rows above are withdrawn and one below is added",
    (s) => {
      s.events.withdraw(nth(s, 5));
      s.events.withdraw(nth(s, 6));
      s.events.lateOrder(at - 700 * day);
    },
  ],
  ["a row moves from a page already read to one to come", (s) => s.events.redate(nth(s, 5), at - 700 * day)],
  ["a row moves from a page to come to one already read", (s) => s.events.redate(nth(s, 320), at - day)],
  [
    "two rows swap their dates",
    (s) => {
      const [a, b] = [listed(s)[5], listed(s)[320]];
      s.events.redate(a?.id ?? "", Date.parse(b?.order_date ?? ""));
      s.events.redate(b?.id ?? "", Date.parse(a?.order_date ?? ""));
    },
  ],
  [
    "a row to come is refunded and cancelled",
    (s) => {
      s.events.refund(nth(s, 320));
      s.events.cancel(nth(s, 320));
    },
  ],
  [
    "new orders are placed",
    (s) => {
      for (let n = 0; n < 150; n += 1) s.events.newOrder(at + n);
    },
  ],
  [
    "a hundred rows are withdrawn, so that the last page is gone",
    (s) => {
      for (const { id } of listed(s).slice(250)) s.events.withdraw(id);
    },
  ],
  [
    "everything is withdrawn",
    (s) => {
      for (const { id } of listed(s)) s.events.withdraw(id);
    },
  ],
];

test.each(once)("while orders are read first, %s: the next night has everything", async (_, happen) => {
  await meetDrift(happen, "sync orders", false);
});

test.each(once)("while all is read again, %s: the next night has everything", async (_, happen) => {
  await meetDrift(happen, "sync orders --full", true);
});

async function meetDrift(
  happen: (sandbox: Sandbox) => void,
  command: string,
  isKnown: boolean,
): Promise<void> {
  const sandbox = await quiet();
  const home = makeHome();
  if (isKnown) await runAt(sandbox, home, "sync orders");
  let pages = 0;
  sandbox.intercept = ({ path }) => {
    if (path === "/orders" && ++pages === 2) happen(sandbox);
  };
  const result = await runAt(sandbox, home, `${command} --accept-removals`);
  expect([0, 8], result.err).toContain(result.code);
  sandbox.intercept = undefined;
  // With the usual window, and the figures by day that have moved behind the reader.
  const after = await runAt(sandbox, home, "sync orders --accept-removals");
  expectSeen(after, { code: 0, moves: true }, [sandbox.key]);
  expectEqual(sandbox, home);
}

test("many orders of one instant, in another sequence on each page: they are all found, or it is said", async () => {
  const sandbox = await quiet(0);
  for (let n = 0; n < 250; n += 1) sandbox.events.newOrder(at - day);
  let turn = 0;
  sandbox.intercept = () => ({
    kind: "envelope",
    change(envelope) {
      if (!Array.isArray(envelope.data) || envelope.data.length < 100) return envelope;
      turn += 1;
      return { ...envelope, data: turn % 2 ? envelope.data : [...envelope.data].reverse() };
    },
  });
  const home = makeHome();
  expectSeen(await runAt(sandbox, home, "sync orders"), { code: 0, moves: true }, [sandbox.key]);
  expectEqual(sandbox, home);
});

test("a list that never settles: exit 8 says so after a bounded number of requests, and claims nothing", async () => {
  const sandbox = await quiet();
  const home = makeHome();
  let turn = 0;
  sandbox.intercept = ({ path }) => {
    if (path !== "/orders") return;
    turn += 1;
    if (turn % 2) sandbox.events.withdraw(nth(sandbox, 5));
    else sandbox.events.lateOrder(at - 700 * day);
  };
  const result = await runAt(sandbox, home, "sync orders");
  expectSeen(
    result,
    {
      code: 8,
      moves: true,
      says: /incomplete: .*(never settled|counts still differ|does not say)[\s\S]*hint/,
    },
    [sandbox.key],
  );
  expect(sandbox.log.length).toBeLessThan(400);
  sandbox.intercept = undefined;
  await runAt(sandbox, home, "sync orders --full");
  await runAt(sandbox, home, "sync orders --full");
  expectEqual(sandbox, home);
});

test("a roster that comes in another order on every page is put together from several reads", async () => {
  const sandbox = await quiet();
  while (sandbox.count("roster") < 230) sandbox.events.joinRoster();
  const all = [...sandbox.records("roster")];
  let turn = 0;
  sandbox.intercept = ({ path, query }) => {
    if (path !== "/roster") return undefined;
    turn += 1;
    const shuffled = [...all.slice(turn * 7), ...all.slice(0, turn * 7)];
    const page = Number(query.get("page"));
    return {
      kind: "envelope",
      change: (e) => ({ ...e, data: shuffled.slice((page - 1) * 100, page * 100) }),
    };
  };
  const home = makeHome();
  expectSeen(await runAt(sandbox, home, "sync roster"), { code: 0, moves: true }, [sandbox.key]);
  expectEqual(sandbox, home, "roster");
});

test("a host leaves the roster while it is read: the one who slipped past is found", async () => {
  const sandbox = await quiet();
  while (sandbox.count("roster") < 230) sandbox.events.joinRoster();
  let pages = 0;
  sandbox.intercept = ({ path }) => {
    if (path !== "/roster" || ++pages !== 2) return;
    const [first] = sandbox.records("roster") as Iterable<{ host: { id: string } }>;
    sandbox.events.leaveRoster(first?.host.id ?? "");
  };
  const home = makeHome();
  expectSeen(await runAt(sandbox, home, "sync roster"), { code: 0, moves: true }, [sandbox.key]);
  sandbox.intercept = undefined;
  await runAt(sandbox, home, "sync roster");
  expectEqual(sandbox, home, "roster");
});

test("half the roster vanishes: nothing is removed until the person accepts it", async () => {
  const sandbox = await quiet();
  const home = makeHome();
  await runAt(sandbox, home, "sync roster");
  const hosts = [...sandbox.records("roster")] as { host: { id: string } }[];
  for (const { host } of hosts.slice(0, Math.ceil(hosts.length * 0.7))) sandbox.events.leaveRoster(host.id);
  const refused = await runAt(sandbox, home, "sync roster");
  expectSeen(
    refused,
    {
      code: 8,
      moves: true,
      says: /no longer returns \d+ of \d+ mirrored records: nothing was removed[\s\S]*--accept-removals/,
    },
    [sandbox.key],
  );
  expectSeen(await runAt(sandbox, home, "sync roster --accept-removals"), { code: 0, moves: true }, [
    sandbox.key,
  ]);
  expectEqual(sandbox, home, "roster");
});

test("a campaign is gone when its details are asked for: it is said, and the rest is complete", async () => {
  const sandbox = await quiet();
  const home = makeHome();
  const [first] = sandbox.records("opportunities") as Iterable<{ id: string }>;
  let done = false;
  sandbox.intercept = ({ path }) => {
    if (done || !path.startsWith("/opportunities/")) return;
    done = true;
    sandbox.events.removeCampaign(first?.id ?? "");
  };
  expectSeen(
    await runAt(sandbox, home, "sync opportunities"),
    { code: 0, moves: true, says: /answered 404 when its details[\s\S]*1 removed/ },
    [sandbox.key],
  );
  expectSeen(await runAt(sandbox, home, "sync opportunities"), { code: 0, moves: true, says: /0 removed/ }, [
    sandbox.key,
  ]);
  expectEqual(sandbox, home, "opportunity-details");
});

test("details that are another campaign's: exit 7", async () => {
  const sandbox = await quiet();
  const other = [...sandbox.records("opportunity-details")][1];
  sandbox.intercept = ({ path }) =>
    path.startsWith("/opportunities/")
      ? { kind: "envelope", change: (e) => ({ ...e, data: other }) }
      : undefined;
  const result = await runAt(sandbox, makeHome(), "sync opportunities");
  expectSeen(result, { code: 7, says: /is another record/ }, [sandbox.key]);
});

test("library files are added and removed while they are listed", async () => {
  const sandbox = await quiet();
  while (sandbox.count("content") < 230) sandbox.events.addContent();
  let pages = 0;
  sandbox.intercept = ({ path }) => {
    if (path !== "/content" || ++pages !== 2) return;
    const [first] = sandbox.records("content") as Iterable<{ source: string; id: string }>;
    sandbox.events.removeContent(first?.source ?? "", first?.id ?? "");
    sandbox.events.addContent({ createdAt: at - 300 * day });
  };
  const home = makeHome();
  const result = await runAt(sandbox, home, "sync content");
  expect([0, 8], result.err).toContain(result.code);
  sandbox.intercept = undefined;
  expectSeen(await runAt(sandbox, home, "sync content --full"), { code: 0, moves: true }, [sandbox.key]);
  expectEqual(sandbox, home, "content");
});

test("the ranking changes while it is read: it is believed when it stood still", async () => {
  const sandbox = await quiet();
  const home = makeHome();
  let asked = 0;
  sandbox.intercept = ({ path }) => {
    if (path !== "/analytics/hosts" || ++asked > 2) return undefined;
    return { kind: "envelope", change: (e) => ({ ...e, data: (e.data as unknown[]).slice(1) }) };
  };
  expectSeen(await runAt(sandbox, home, "sync analytics-hosts"), { code: 0, moves: true }, [sandbox.key]);
  sandbox.intercept = ({ path }) =>
    path === "/analytics/hosts"
      ? { kind: "envelope", change: (e) => ({ ...e, data: (e.data as unknown[]).slice(1) }) }
      : undefined;
  const never = await runAt(sandbox, home, "sync analytics-hosts");
  expectSeen(never, { code: 8, moves: true, says: /never stood still/ }, [sandbox.key]);
});
