import { isObject, type Json } from "../../util/json-value.js";
import { type Mirror, readInfo, writeInfo } from "../mirror/database.js";

/** What a mirror must not store. */
export interface RedactionRules {
  /** The members that the profile omits, by the end of their path: `host.last_name`, or `roster:host.last_name` for one resource. */
  omit: readonly string[];
  /** Members that are no longer omitted. Records that were read before the change still lack them. */
  restored: readonly string[];
  /** The IDs of forgotten hosts. Only the ID is stored. */
  forgotten: readonly string[];
}

/** Reads the mirror's redaction rules. */
export function readRedactionRules(mirror: Mirror): RedactionRules {
  const read = (name: string): string[] => JSON.parse(readInfo(mirror, name) ?? "[]");
  return { omit: read("omit"), restored: read("no_longer_omitted"), forgotten: read("forgotten") };
}

/** Removes from a resource's record what the mirror must not store. Returns the record itself if nothing has to be removed. */
export type Redactor = (record: Json, resource: string) => Json;

/** Returns the mirror's redactor. Rules that change later need a new one. */
export function createRedactor(mirror: Mirror): Redactor {
  const { omit, forgotten } = readRedactionRules(mirror);
  if (omit.length + forgotten.length === 0) return (record) => record;
  const isOmitted = createMatcher(omit);
  const hosts = new Set(forgotten);

  function redact(value: Json, resource: string, path: string): Json {
    if (Array.isArray(value)) return value.map((item) => redact(item, resource, path));
    if (!isObject(value)) return value;
    const isRedacted = (member: string) =>
      (hosts.has(String(value.id)) && member !== "id") ||
      (hosts.has(String(value.host_id)) && /^host_(?!id$)/.test(member)) ||
      isOmitted(`${path}.${member}`, resource);
    const members = Object.entries(value).filter(([member]) => !isRedacted(member));
    return Object.fromEntries(
      members.map(([member, inner]) => [member, redact(inner, resource, `${path}.${member}`)]),
    );
  }
  return (record, resource) => redact(record, resource, "");
}

/**
 * Returns a function that completes a stored record with the members of the API's record that were once omitted, so that
 * comparing the two does not report them as changed.
 */
export function createRestorer(mirror: Mirror): (stored: Json, sent: Json, resource: string) => Json {
  const { restored } = readRedactionRules(mirror);
  if (restored.length === 0) return (stored) => stored;
  const isRestored = createMatcher(restored);

  function complete(stored: Json, sent: Json, resource: string, path: string): Json {
    if (Array.isArray(stored) && Array.isArray(sent)) {
      const counterpart = (item: Json, index: number) =>
        (isObject(item) && sent.find((other) => isObject(other) && other.id === item.id)) || sent[index];
      return stored.map((item, index) => complete(item, counterpart(item, index) ?? null, resource, path));
    }
    if (!isObject(stored) || !isObject(sent)) return stored;
    const members = Object.entries(stored).map(([member, value]) => [
      member,
      complete(value, sent[member] ?? null, resource, `${path}.${member}`),
    ]);
    const missing = Object.entries(sent).filter(
      ([member]) => !Object.hasOwn(stored, member) && isRestored(`${path}.${member}`, resource),
    );
    return Object.fromEntries([...members, ...missing]);
  }
  return (stored, sent, resource) => complete(stored, sent, resource, "");
}

/** Returns a function that checks whether one of the rules matches a member's path, such as `.host.last_name`. */
function createMatcher(rules: readonly string[]): (path: string, resource: string) => boolean {
  const patterns = rules.map((rule) => rule.split(":").reverse());
  return (path, resource) =>
    patterns.some(([end, only = resource]) => only === resource && path.endsWith(`.${end}`));
}

/** True if the rules omit every member that `rule` omits. */
export function isCovered(rule: string, rules: readonly string[]): boolean {
  const [end = "", resource = ""] = rule.split(":").reverse();
  return createMatcher(rules)(`.${end}`, resource);
}

/** True if the rules omit hosts' first or last names, in any resource. */
export function omitsHostNames({ omit }: Pick<RedactionRules, "omit">): boolean {
  return omit.some((rule) => /(^|[.:])(first|last)_name$/.test(rule));
}

/** Notes that stored records were redacted after this run. */
export function writeRedactedAfterRun(mirror: Mirror, newestRunId: number): void {
  writeInfo(mirror, redactedAfterRun, String(newestRunId));
}

/**
 * Returns the newest run (`run_id`) before stored records were last redacted; null if none ever were. What was exported up to
 * that run may hold data that was removed since.
 */
export function readRedactedAfterRun(mirror: Mirror): number | null {
  const runId = readInfo(mirror, redactedAfterRun);
  return runId === null ? null : Number(runId);
}

const redactedAfterRun = "redacted_after_run";
