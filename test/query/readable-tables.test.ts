import { expect, test } from "vitest";
import { describeTable } from "../../src/query/readable-tables.js";
import { makeMirror } from "../support/mirror.js";

test("the columns of `sync_runs` have the types that exports use: booleans, integers and text", async () => {
  const { columns } = describeTable(await makeMirror(), "sync_runs");
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  expect(types).toMatchObject({
    run_id: "integer",
    verified: "boolean",
    rows_read: "integer",
    error: "text",
  });
});
