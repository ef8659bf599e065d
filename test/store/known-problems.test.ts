import { expect, test } from "vitest";
import {
  clearFailedCommand,
  hasVerifyFinding,
  readAccessDenial,
  readFailedCommand,
  writeAccessDenial,
  writeFailedCommand,
  writeVerifyFinding,
} from "../../src/store/known-problems.js";
import { makeMirror } from "../support/mirror.js";

const at = "2026-11-20T01:00:00.000Z";

test("a finding of verify, such as unread records, applies only to the run that stored it", async () => {
  const mirror = await makeMirror();
  const write = (runId: number | null) =>
    mirror.transaction(() => writeVerifyFinding(mirror, "unread_only", "orders", runId));
  const applies = (finding: "unread_only" | "unrepairable", run_id: number) =>
    hasVerifyFinding(mirror, finding, { resource: "orders", run_id });
  write(7);
  expect([applies("unread_only", 7), applies("unread_only", 8), applies("unrepairable", 7)]).toEqual([
    true,
    false,
    false,
  ]);
  write(null);
  expect(applies("unread_only", 7)).toBe(false);
});

test("an access denial is stored for the resource until it is cleared", async () => {
  const mirror = await makeMirror();
  const denial = { at, error: "no access", hint: null };
  writeAccessDenial(mirror, "orders", denial);
  expect([readAccessDenial(mirror, "orders"), readAccessDenial(mirror, "roster")]).toEqual([denial, null]);
  writeAccessDenial(mirror, "orders", null);
  expect(readAccessDenial(mirror, "orders")).toBeNull();
});

test("if a command fails before it has read anything, its error is stored until the next command starts", async () => {
  const mirror = await makeMirror();
  const failed = { command: "sync", at, error: "no network", hint: null, isRefused: false };
  writeFailedCommand(mirror, failed);
  expect(readFailedCommand(mirror)).toEqual(failed);
  clearFailedCommand(mirror);
  expect(readFailedCommand(mirror)).toBeNull();
});
