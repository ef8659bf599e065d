/** A line that guards against a loss, and what it becomes when it is broken. */
export interface Guard {
  file: string;
  line: string;
  broken: string;
  /** Tests that should see it, by path; all quick ones of the mirror's reading where nothing else is said. */
  tests?: readonly string[];
}

const api = ["test/api"];
const coverage = ["test/mirror/coverage.test.ts"];
const pass = ["test/sync/pass.test.ts"];
const verify = ["test/verify", "test/scenarios/removals.test.ts"];
const processes = ["test/faults/processes.test.ts", "test/mirror"];

/** The guarding lines of reading, removing, retrying and keeping to the budget. */
export const guards: readonly Guard[] = [
  {
    file: "src/sync/reading.ts",
    line: "return seen.size === total && !shrank;",
    broken: "return !shrank;",
  },
  {
    file: "src/sync/reading.ts",
    line: "return seen.size === total && !shrank;",
    broken: "return seen.size === total;",
  },
  {
    file: "src/sync/pass.ts",
    line: 'if (mirror.db.inTransaction) mirror.db.exec("ROLLBACK");',
    broken: 'if (mirror.db.inTransaction) mirror.db.exec("COMMIT");',
    tests: pass,
  },
  {
    file: "src/sync/pass.ts",
    line: "context.store.checkKeys(page.records);",
    broken: "",
    tests: pass,
  },
  {
    file: "src/mirror/removals.ts",
    line: "for (const id of found) forget.run(resource, id);",
    broken: "",
  },
  {
    file: "src/sync/pass.ts",
    line: "    commit();\n  }\n  return pass;",
    broken: "  }\n  commit();\n  return pass;",
  },
  {
    file: "src/sync/walk.ts",
    line: "if (above === pass.total - below && !pass.shrank) prove(",
    broken: "if (!pass.shrank) prove(",
  },
  {
    file: "src/sync/walk.ts",
    line: "if (above === pass.total - below && !pass.shrank) prove(",
    broken: "if (above === pass.total - below) prove(",
  },
  { file: "src/sync/walk.ts", line: "noteMissing(mirror, resource.name, pass.seen, range);", broken: "" },
  {
    file: "src/sync/walk.ts",
    line: "const boundary = Math.floor(pass.oldest) + 1;",
    broken: "const boundary = Math.floor(pass.oldest) - 1;",
  },
  { file: "src/sync/walk.ts", line: "if (boundary >= upper) {", broken: "if (false) {" },
  {
    file: "src/sync/resume.ts",
    line: "if (ids.length === 0 || ids.some((id, index) => id !== tail[index])) return null;",
    broken: "if (ids.length === 0) return null;",
  },
  {
    file: "src/sync/close-range.ts",
    line: "if (differences.length > 0)",
    broken: "if (differences.length > 1e9)",
  },
  {
    file: "src/sync/close-range.ts",
    line: "for (const range of joinRanges(differences)) await readAgain(context, range);",
    broken: "",
  },
  {
    file: "src/sync/removal.ts",
    line: "const isDoubtful = looked.left === 0 || isImplausible(missing.length, looked.present);",
    broken: "const isDoubtful = isImplausible(missing.length, looked.present);",
  },
  {
    file: "src/sync/removal.ts",
    line: "const isDoubtful = looked.left === 0 || isImplausible(missing.length, looked.present);",
    broken: "const isDoubtful = looked.left === 0;",
  },
  {
    file: "src/mirror/removals.ts",
    line: "return present > 20 && removals > present / 2;",
    broken: "return removals > present / 2;",
  },
  {
    file: "src/mirror/removals.ts",
    line: "return present > 20 && removals > present / 2;",
    broken: "return present > 20 && removals >= present;",
  },
  {
    file: "src/sync/plan.ts",
    line: "const covered = stretches(spans)[0]?.to;",
    broken: "const covered = stretches(spans).at(-1)?.to;",
  },
  { file: "src/sync/plan.ts", line: "watermark - options.windowMs;", broken: "watermark;" },
  { file: "src/sync/plan.ts", line: "unfinished.from <= asked.from &&", broken: "" },
  {
    file: "src/mirror/coverage.ts",
    line: "if (last && last.runId === span.runId && span.from - last.to <= touching)",
    broken: "if (last && last.runId === span.runId)",
    tests: coverage,
  },
  {
    file: "src/mirror/coverage.ts",
    line: "if (last && from - last.to <= touching) last.to = Math.max(last.to, to);",
    broken: "if (last) last.to = Math.max(last.to, to);",
    tests: coverage,
  },
  {
    file: "src/mirror/coverage.ts",
    line: "readAt: Math.min(last.readAt, span.readAt)",
    broken: "readAt: Math.max(last.readAt, span.readAt)",
    tests: coverage,
  },
  {
    file: "src/sync/proof/close.ts",
    line: "  if (!wire) return;\n  await rereadMoved(context, wire);",
    broken: "  if (!wire) return;",
  },
  {
    file: "src/sync/proof/close.ts",
    line: "if (begun) rememberDays(context, begun);",
    broken: "",
  },
  {
    file: "src/sync/proof/close.ts",
    line: "(unsure || isWorthAnother(context, wire))",
    broken: "isWorthAnother(context, wire)",
  },
  {
    file: "src/sync/close-range.ts",
    line: "await lookAgain(context);",
    broken: "",
  },
  {
    file: "src/sync/close-range.ts",
    line: "await lookAgain(context);",
    broken: "if (round === 1) await lookAgain(context);",
  },
  {
    file: "src/sync/proof/undated.ts",
    line: "if (counted === held.length) return;",
    broken: "return;",
  },
  {
    file: "src/sync/pass.ts",
    line: "context.perPage = Math.max(1, page.pagination.per_page);",
    broken: "",
  },
  {
    file: "src/sync/proof/beyond.ts",
    line: "if (!isSame(context, pass, { from: lowest, to: now }, newest))",
    broken: "if (!newest)",
  },
  {
    file: "src/sync/proof/soundings.ts",
    line: "return isExact && pass.total === held;",
    broken: "return isExact;",
  },
  {
    file: "src/sync/proof/soundings.ts",
    line: "if (!isExact) await readAgain(context, seen);",
    broken: "",
  },
  {
    file: "src/sync/proof/close.ts",
    line: "for (const covered of stretches(spans)) await rereadDiffering(context, covered, checks);",
    broken: "",
  },
  { file: "src/sync/proof/close.ts", line: "await auditOldest(context, since);", broken: "" },
  {
    file: "src/sync/proof/tripwire.ts",
    line: "before.get(day) !== figure(wire, day) && isCovered(day) && !isFresh(day)",
    broken: "false",
  },
  {
    file: "src/sync/proof/filter-meaning.ts",
    line: "return (await countItems(context, from, range.to, filter)) === selected;",
    broken: "return true;",
  },
  { file: "src/sync/reading.ts", line: "if (!last.shrank) {", broken: "if (last) {" },
  { file: "src/sync/strategies/full.ts", line: "noteMissing(mirror, resource.name, pass.seen);", broken: "" },
  {
    file: "src/sync/strategies/snapshot.ts",
    line: "if (isStill && rows.length === total",
    broken: "if (rows.length === total",
  },
  {
    file: "src/sync/strategies/snapshot.ts",
    line: "rows.length === total && (isDistinct",
    broken: "(isDistinct",
  },
  {
    file: "src/sync/strategies/snapshot.ts",
    line: "(isDistinct || answers === 1 || isDeepStrictEqual(texts, before))",
    broken: "true",
  },
  {
    file: "src/records/record-writer.ts",
    line: "row.removed_at === null && row.context ===",
    broken: "row.context ===",
  },
  {
    file: "src/mirror/info.ts",
    line: "if (owner === null || owner === brand.id) return;",
    broken: "return;",
    tests: ["test/faults/auth.test.ts"],
  },
  { file: "src/mirror/lock.ts", line: "BEGIN EXCLUSIVE", broken: "BEGIN", tests: processes },
  {
    file: "src/api/pages.ts",
    line: "texts.length >= answer.pagination.per_page && isDeepStrictEqual(texts, previous)",
    broken: "false",
    tests: [...api, "test/faults/protocol.test.ts"],
  },
  { file: "src/api/retry.ts", line: "if (leftMs <= noTimeMs) return null;", broken: "", tests: api },
  {
    file: "src/api/retry.ts",
    line: 'if (fault.kind === "garbled" && attempt > garbledTries) return null;',
    broken: "",
    tests: api,
  },
  {
    file: "src/api/retry.ts",
    line: "if (fault.retryAfterMs !== null) return fault.retryAfterMs + random * 250;",
    broken: "",
    tests: api,
  },
  {
    file: "src/api/retry.ts",
    line: "return status === 408 || status === 429 ||",
    broken: "return status === 408 ||",
    tests: api,
  },
  {
    file: "src/api/retry.ts",
    line: "waitMs: Math.min(leftMs, wantedMs(fault, situation))",
    broken: "waitMs: wantedMs(fault, situation)",
    tests: api,
  },
  {
    file: "src/api/ledger.ts",
    line: "if (used < most) return [];",
    broken: "if (used <= most) return [];",
    tests: api,
  },
  { file: "src/api/ledger.ts", line: "2 * limit]", broken: "20 * limit]", tests: api },
  {
    file: "src/api/client.ts",
    line: 'redirect: "manual"',
    broken: 'redirect: "follow"',
    tests: [...api, "test/faults/hostile-content.test.ts"],
  },
  {
    file: "src/api/envelope.ts",
    line: "if (envelope.success !== true)",
    broken: "if (envelope.success === null)",
    tests: [...api, "test/faults/protocol.test.ts"],
  },
  {
    file: "src/sync/proof/close.ts",
    line: "filter((check) => !isCounted || check !== allRecords)",
    broken: "filter((check) => check !== allRecords)",
  },
  {
    file: "src/records/recognition.ts",
    line: "forget: (id) => void changed.add(id),",
    broken: "forget: () => {},",
  },
  {
    file: "src/records/recognition.ts",
    line: "json = ? AND removed_at IS NULL AND context",
    broken: "json = ? AND context",
  },
  {
    file: "src/records/recognition.ts",
    line: "misses > patience && misses % patience !== 0",
    broken: "misses > patience",
  },
  {
    file: "src/sync/proof/beyond.ts",
    line: "return hasEverything;",
    broken: "return true;",
  },
  {
    file: "src/verify/dated.ts",
    line: "[...differences, ...open]",
    broken: "differences",
    tests: verify,
  },
  {
    file: "src/verify/dated.ts",
    line: "    await closeEarlier(context);\n    if (wire)",
    broken: "    if (wire)",
    tests: verify,
  },
  {
    file: "src/sync/close-range.ts",
    line: "{ from: last.from, to }) < perPage)",
    broken: "{ from: last.from, to }) < 1e9)",
  },
];
