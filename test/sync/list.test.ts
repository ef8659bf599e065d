import { describe, expect, test } from "vitest";
import { type Reading, readList, whyNotWhole } from "../../src/api/list.js";
import type { Page } from "../../src/api/pages.js";
import type { ApiRecord, JsonObject } from "../../src/resources/types.js";
import { mixed } from "../support/fake/dates.js";
import { day, nights } from "../support/nights.js";

/** A reading: its pages, each of who is on it and how many the API counts. */
type Told = { who: string; total: number; pages?: number }[];

/** Reads a list that is told so; the last reading is told again and again. */
async function read(...readings: Told[]): Promise<Reading<string> & { readings: number }> {
  let count = 0;
  async function* pages(): AsyncGenerator<Page, void> {
    const told = readings[Math.min(count, readings.length - 1)] ?? [];
    count += 1;
    for (const [index, { who, total, pages = told.length }] of told.entries()) {
      const records = [...who].map((id): ApiRecord => ({ json: `"${id}"`, value: id }));
      const pagination = { page: index + 1, per_page: 3, total_items: total, total_pages: pages };
      yield {
        page: index + 1,
        records,
        askedAt: count * 100 + index,
        pagination: { ...pagination, has_next: false, has_prev: false },
      };
    }
  }
  const list = readList<string>(pages);
  for (;;) {
    const { value, done } = await list.next();
    if (done) return { ...value, readings: count };
    for (const record of value.records) value.found.add(String(record.value));
  }
}

const told = (total: number, ...pages: string[]): Told => pages.map((who) => ({ who, total }));
const who = ({ found }: Reading<string>) => [...found].sort().join("");

describe("a list is whole", () => {
  test("when the distinct records are as many as the API counts: one reading is enough", async () => {
    expect(await read(told(5, "abc", "de"))).toMatchObject({ isWhole: true, readings: 1, askedAt: 100 });
  });

  test("not when the count fell while it was read: another was drawn past the reader", async () => {
    const fell: Told = [
      { who: "abc", total: 7 },
      { who: "def", total: 6 },
    ];
    const end = await read(fell, told(6, "bcd", "efg"));
    expect(end).toMatchObject({ isWhole: true, readings: 2, askedAt: 200 });
    expect(who(end)).toBe("bcdefg");
  });

  test("when readings in changing order have shown them all, and once more", async () => {
    const end = await read(
      told(6, "abc", "abd"),
      told(6, "cde", "abe"),
      told(6, "aef", "bca"),
      told(6, "abc", "abc"),
      told(6, "def", "abd"),
    );
    // It is as old as the oldest answer in it.
    expect(end).toMatchObject({ isWhole: true, readings: 5, askedAt: 100 });
    expect(who(end)).toBe("abcdef");
  });

  test("not when it is put together of readings with different counts", async () => {
    // `d` has left, and `x`, `y` and `z` have come.
    const end = await read(
      told(5, "abc", "dda"),
      told(6, "abx", "yab"),
      told(6, "abc", "xya"),
      told(6, "abz", "xya"),
      told(6, "abc", "xyb"),
      told(6, "abz", "xya"),
    );
    expect(end).toMatchObject({ isWhole: true, readings: 6, askedAt: 200 });
    expect(who(end)).toBe("abcxyz");
  });

  test("not with whom a reading has shown in which the count fell", async () => {
    const fell: Told = [
      { who: "abe", total: 7 },
      { who: "fab", total: 6 },
    ];
    const end = await read(
      told(6, "abc", "abd"),
      fell,
      told(6, "abc", "abd"),
      told(6, "aeg", "abc"),
      told(6, "abc", "abd"),
      told(6, "aeg", "abc"),
    );
    expect(end).toMatchObject({ isWhole: true, readings: 6 });
    expect(who(end)).toBe("abcdeg");
  });

  test("not when two readings together show one who left and one who joined", async () => {
    // `x` has left and `y` has joined in between: both together are of two lists, though as many as the count.
    const end = await read(
      told(6, "abc", "dxa"),
      told(6, "abc", "dya"),
      told(6, "abz", "dya"),
      told(6, "abc", "dza"),
      told(6, "abc", "dza"),
      told(6, "abz", "dya"),
    );
    expect(end).toMatchObject({ isWhole: true, readings: 6 });
    expect(who(end)).toBe("abcdyz");
  });

  test("not by who was seen again before somebody left", async () => {
    const fell: Told = [
      { who: "abc", total: 7 },
      { who: "xyz", total: 6 },
    ];
    const end = await read(
      told(6, "abc", "abd"),
      told(6, "cde", "abe"),
      told(6, "aef", "bca"),
      told(6, "abc", "dea"),
      fell,
      told(6, "abc", "dea"),
      told(6, "abc", "dfa"),
    );
    expect(end.isWhole).toBe(false);
  });

  test("not while one who may have left hides one who was never shown", async () => {
    // `x` has left and `y` has joined; both are as many as the API counts, with `z`, whom no reading shows.
    const end = await read(told(6, "abc", "dxa"), told(6, "abc", "dya"));
    // Two until they are as many, one that sees five of them again, and five that bring nothing.
    expect(end).toMatchObject({ isWhole: false, readings: 8 });
  });

  test("not when what is put together is more than the API counts", async () => {
    const end = await read(told(5, "abc", "dda"), told(5, "abx", "yab"));
    expect(end.isWhole).toBe(false);
    expect(end.readings).toBeLessThan(17);
  });

  test("an empty one is", async () => {
    expect(await read(told(0, ""))).toMatchObject({ isWhole: true, readings: 1 });
  });
});

describe("a list that never settles is given up, and it is said why", () => {
  test("after four readings that brought nothing new", async () => {
    const end = await read(told(7, "abc", "abd"));
    expect(end).toMatchObject({ isWhole: false, total: 7, readings: 5 });
    expect(whyNotWhole(end)).toBe("never settled: 4 distinct records were found where the API counts 7");
  });

  test("after one, where it has more pages than can be asked for", async () => {
    const end = await read(told(1_000_004, "abc", "d").map((page) => ({ ...page, pages: 10_001 })));
    expect(end).toMatchObject({ isWhole: false, readings: 1 });
    expect(whyNotWhole(end)).toBe("is longer than the API lets anyone read: 4 of 1000004 were found");
  });

  test("after 32 of which each brought somebody new", async () => {
    const all = Array.from({ length: 40 }, (_, n) => String.fromCharCode(0x3b1 + n));
    const end = await read(...all.map((one) => told(43, "abc", one)));
    expect(end).toMatchObject({ isWhole: false, readings: 32 });
  });

  test("when each time somebody went while it was read", async () => {
    const end = await read([
      { who: "abc", total: 5 },
      { who: "d", total: 4 },
    ]);
    expect(end).toMatchObject({ isWhole: false, total: 4 });
    expect(whyNotWhole(end)).toBe("never settled: records went while it was read, each time");
  });
});

function members(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => ({ relationship_id: `r${n}`, host: { id: `h${n}` } }));
}

describe("the roster", () => {
  test("of four pages takes four requests on a quiet night", async () => {
    const brand = await nights({ roster: members(350) });
    for (let night = 0; night < 2; night += 1) {
      expect(await brand.sync("roster")).toMatchObject({ requests: 4, verified: true });
      brand.pass(day);
    }
  });

  test("is read whole once more before anybody is removed", async () => {
    const brand = await nights({ roster: members(350) });
    await brand.sync("roster");
    brand.api.records.roster = members(350).slice(1);
    expect(await brand.sync("roster")).toMatchObject({ requests: 8, rows_removed: 1, verified: true });
  });

  describe("from which one goes while another comes, so that a third slips past the reader", () => {
    async function slipped() {
      const brand = await nights({ roster: members(350) });
      await brand.sync("roster");
      brand.once(
        ({ query }) => query.page === "2",
        () => {
          // r0 goes from the page already read, r100 moves onto it, and one comes at the end.
          brand.api.records.roster = [
            ...members(350).slice(1),
            { relationship_id: "new", host: { id: "n" } },
          ];
        },
      );
      const night = await brand.sync("roster");
      const ids = brand.api.records.roster.map((one) => String((one as JsonObject).relationship_id)).sort();
      return { brand, night, ids };
    }

    test("the third is not removed: one more whole reading has found it", async () => {
      const { brand, night } = await slipped();
      expect(night).toMatchObject({ failure: null, requests: 12, rows_removed: 1, verified: true });
      expect(brand.mirrored("roster")).toContain("r100");
    });

    test("the next night the mirror is the roster", async () => {
      const { brand, ids } = await slipped();
      brand.pass(day);
      expect(await brand.sync("roster")).toMatchObject({ failure: null, verified: true, rows_removed: 0 });
      expect(brand.mirrored("roster")).toEqual(ids);
    });

    test("a third reading confirms who was missing from the second one only", async () => {
      const { brand, night, ids } = await slipped();
      expect(night.verified).toBe(true);
      expect(brand.mirrored("roster")).toEqual(ids);
    });
  });

  test("that stands in changing order never loses anybody", async () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const shuffled = members(35).sort(
        (a, b) => mixed(String(a.relationship_id), seed) - mixed(String(b.relationship_id), seed),
      );
      const brand = await nights({ roster: shuffled }, { ties: "changing", mostPerPage: 30 });
      for (let night = 0; night < 4; night += 1) {
        const { rows_removed } = await brand.sync("roster");
        expect(rows_removed).toBe(0);
        brand.pass(day);
      }
      expect(brand.mirrored("roster")).toHaveLength(35);
    }
  });

  test("which one left and another joined between two readings in changing order is right by the next quiet night", async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const all = members(14).map((one, n) => ({ ...one, relationship_id: `r${seed}-${n}` }));
      const brand = await nights({ roster: all.slice(0, 13) }, { ties: "changing", mostPerPage: 10 });
      brand.once(
        ({ number }) => number === 3,
        () => {
          brand.api.records.roster = all.slice(1);
        },
      );
      await brand.sync("roster");
      const ids = all.slice(1).map(({ relationship_id }) => String(relationship_id));
      for (let night = 0; night < 3; night += 1) {
        brand.pass(day);
        if ((await brand.sync("roster")).verified) break;
      }
      expect(brand.mirrored("roster")).toEqual(ids.sort());
    }
  });
});

describe("a list of which the API shows no fields", () => {
  test("and whose pages are small ones is doubted by the same measure", async () => {
    const brand = await nights({ codes: codes(36) }, { mostPerPage: 20 });
    await brand.sync("codes");
    brand.api.answers["/codes"] = JSON.stringify(codes(20));
    expect(await brand.sync("codes")).toMatchObject({ verified: false, rows_removed: 0 });
  });

  const code = (n: number) => ({ id: `c${n}`, code: `X${n}` });
  const codes = (count: number) => Array.from({ length: count }, (_, n) => code(n));

  test("and that comes without its pages removes nobody who was on another, until that is accepted", async () => {
    const brand = await nights({ codes: codes(40) });
    await brand.sync("codes");
    brand.api.answers["/codes"] = JSON.stringify([...codes(24), code(99)]);
    for (const _ of [1, 2]) {
      brand.pass(day);
      const { failure, rows_removed } = await brand.sync("codes");
      expect(String(failure)).toContain("without the pages that it had before");
      expect(rows_removed).toBe(0);
    }
    expect(brand.mirrored("codes")).toHaveLength(41);
    expect(await brand.sync("codes", { acceptRemovals: true })).toMatchObject({
      failure: null,
      rows_removed: 16,
    });
    expect(await brand.sync("codes")).toMatchObject({ verified: true });
  });

  test("and that comes without its pages, but with everybody, is whole", async () => {
    const brand = await nights({ codes: codes(40) });
    await brand.sync("codes");
    brand.api.answers["/codes"] = JSON.stringify(codes(41));
    expect(await brand.sync("codes")).toMatchObject({ failure: null, verified: true });
    brand.api.answers = {};
    await brand.sync("codes");
    // Less than a page is not the first of several.
    brand.api.answers["/codes"] = JSON.stringify(codes(24));
    expect(await brand.sync("codes")).toMatchObject({ failure: null, rows_removed: 16 });
  });
});

test("the results of a survey that come without their pages remove nothing, after a night without any too", async () => {
  const results = Array.from({ length: 40 }, (_, n) => JSON.stringify({ id: n, answer: n }));
  const brand = await nights({ surveys: [{ id: "s1" }] });
  for (const answer of [results, "[]", `[${results.slice(0, 25).join()}]`]) {
    brand.api.answers["/surveys/s1/results"] = answer;
    await brand.sync("surveys");
    brand.pass(day);
  }
  expect(brand.mirrored("survey-results")).toHaveLength(40);
});

test("the results of a survey that come without their pages remove nothing that was on another", async () => {
  const results = Array.from({ length: 40 }, (_, n) => JSON.stringify({ id: n, answer: n }));
  const brand = await nights({ surveys: [{ id: "s1" }] });
  brand.api.answers["/surveys/s1/results"] = results;
  await brand.sync("surveys");
  expect(brand.mirrored("survey-results")).toHaveLength(40);
  brand.api.answers["/surveys/s1/results"] = `[${results.slice(0, 25).join()}]`;
  for (const _ of [1, 2]) {
    brand.pass(day);
    const { failure, rows_removed } = await brand.sync("surveys");
    expect(String(failure)).toContain("/surveys/s1/results: the API answers without the pages");
    expect(rows_removed).toBe(0);
  }
  expect(await brand.sync("surveys", { acceptRemovals: true })).toMatchObject({
    failure: null,
    rows_removed: 15,
  });
});
