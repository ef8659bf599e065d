import { expect, test } from "vitest";
import { roster } from "../../src/resources/roster.js";
import type { JsonObject } from "../../src/resources/types.js";
import { syncResource } from "../../src/sync/engine.js";
import { verifyResource } from "../../src/verify/engine.js";
import { accessTo } from "../sync/access.js";
import { answer, listApi } from "../sync/list-api.js";

function entries(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => ({ relationship_id: `r${n}`, host: { id: `h${n}` } }));
}

/** A roster whose order differs from one answer to the next: the API promises none. */
async function reordering(orders: JsonObject[][]) {
  const api = listApi([]);
  const coming = [...orders];
  let stands = coming.shift() ?? [];
  api.get = async (_path, query = {}, { arrived } = {}) => {
    const page = answer(
      stands.map((row) => ({ row })),
      query,
    );
    stands = coming.shift() ?? stands;
    await arrived?.(page.pagination);
    return page;
  };
  const access = await accessTo(api);
  function come(next: JsonObject[][]): void {
    coming.push(...next);
    stands = coming.shift() ?? [];
  }
  return { access, come };
}

test("records that changed places between two pages are no difference: the list is read again", async () => {
  const rows = entries(130);
  const { access, come } = await reordering([rows]);
  expect((await syncResource(access, roster)).error).toBeNull();
  const turned = [...rows.slice(30), ...rows.slice(0, 30)];
  come([rows, turned, rows, rows]);

  const verdict = await verifyResource(access, roster, false);

  expect(verdict.months[0]?.why).toBe("all 130 records were read and are the same");
  expect(verdict.state).toBe("proven");
});

test("a list that never agrees with its count proves nothing, and is not called different", async () => {
  const rows = entries(130);
  const { access, come } = await reordering([rows]);
  await syncResource(access, roster);
  const turned = [...rows.slice(100), ...rows.slice(0, 100)];
  come(
    Array.from({ length: 10 }, (_, n) =>
      n % 2 === 0 ? turned : [...turned.slice(30), ...turned.slice(0, 30)],
    ),
  );

  const verdict = await verifyResource(access, roster, false);

  expect(verdict).toMatchObject({ state: "unproven", unsettled: true });
  expect(verdict.months[0]?.why).toContain("never settled");
});
