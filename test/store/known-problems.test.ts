import { expect, test } from "vitest";
import {
  clearFailedCommand,
  hasVerifyFinding,
  loadAccessDenial,
  loadFailedCommand,
  saveAccessDenial,
  saveFailedCommand,
  saveVerifyFinding,
} from "../../src/store/known-problems.js";
import { makeMirror } from "../support/mirror.js";

const at = "2026-11-20T01:00:00.000Z";

test("a problem found by verify, such as unread records, is reported only for the verify run that found it", async () => {
  const mirror = await makeMirror();
  const write = (runId: number | null) =>
    mirror.transaction(() => saveVerifyFinding(mirror, "unread_only", "orders", runId));
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
  saveAccessDenial(mirror, "orders", denial);
  expect([loadAccessDenial(mirror, "orders"), loadAccessDenial(mirror, "roster")]).toEqual([denial, null]);
  saveAccessDenial(mirror, "orders", null);
  expect(loadAccessDenial(mirror, "orders")).toBeNull();
});

test("if a command fails before it has read anything, its error is stored until the next command starts", async () => {
  const mirror = await makeMirror();
  const failed = { command: "sync", at, error: "no network", hint: null, isRefused: false };
  saveFailedCommand(mirror, failed);
  expect(loadFailedCommand(mirror)).toEqual(failed);
  clearFailedCommand(mirror);
  expect(loadFailedCommand(mirror)).toBeNull();
});
