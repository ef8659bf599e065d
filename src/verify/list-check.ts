import { countCurrent, createRecordComparison, recordKey } from "../store/records.js";
import { hasBeenRead } from "../store/runs.js";
import { describeIncompleteList, readList } from "../sync/read-list.js";
import type { ResourceRun } from "../sync/session.js";
import { pluralize } from "../util/format-text.js";
import { allTime } from "../util/time-ranges.js";
import { formatInstant } from "../util/timestamps.js";
import { checks, createEvidence, undatedEvidence } from "./evidence.js";
import { createUnprovenPart, type PartResult, type RecordsResult } from "./verification-result.js";

/**
 * Reads an entire list, and compares every record with the mirror.
 * @param pendingDetails the number of records with outdated details, or null if the resource has no details
 */
export async function verifyList(run: ResourceRun, pendingDetails: number | null): Promise<RecordsResult> {
  const { clock, mirror, resource } = run;
  const { name } = resource;
  const list = await readList(run);
  const compare = createRecordComparison(mirror, resource);
  const items = [...list.records.values()].map(({ record }) => record);
  const listed = new Map(items.map((item, position) => [recordKey(resource, item, position), item]));
  const comparisons = [...listed].map(([key, item]) => compare(item, key));
  const mirrorTotal = countCurrent(mirror, name);
  const absent = comparisons.filter((comparison) => comparison === "absent").length;
  const changed = comparisons.filter((comparison) => comparison === "changed").length;
  const removed = mirrorTotal - (listed.size - absent);
  const isUnread = list.isComplete && !hasBeenRead(mirror, resource);
  const differing = isUnread ? 0 : absent + changed + removed;

  const unread = isUnread ? listed.size : (pendingDetails ?? 0);
  const blind_spot = pendingDetails === null ? "" : "changes to details";
  const differs = `${absent} not in the mirror, ${changed} different, ${removed} no longer in the API`;

  function decideState(): [PartResult["state"], string] {
    if (!list.isComplete) return ["unproven", `the list ${describeIncompleteList(list)}`];
    if (isUnread) return ["unproven", `the list has never been read; run \`brandapi sync ${name}\``];
    if (differing > 0) return ["different", differs];
    if (unread > 0) return ["unproven", `the details of ${pluralize(unread, "record")} are outdated`];
    return ["proven", `${pluralize(listed.size, "record")} read, all identical`];
  }

  const [state, why] = decideState();
  const agrees = list.isComplete && !isUnread ? differing === 0 : null;
  const note = "`sync --details all` finds undetected changes to details";
  return {
    resource: name,
    state,
    parts: [
      isUnread
        ? createUnprovenPart("unread", "all", why)
        : { kind: "list", part: "all", state, why, read_at: formatInstant(clock.now()) },
    ],
    blind_spot,
    api_total: list.total,
    mirror_total: mirrorTotal,
    differing,
    unread,
    unsettled: !list.isComplete,
    collectEvidence: () => [
      undatedEvidence(run, list, { mirror: mirrorTotal, agrees, note: why }),
      ...(blind_spot === ""
        ? []
        : [createEvidence(run, checks.undetected, allTime, { mirror: mirrorTotal, note })]),
    ],
  };
}
