import { isObject, type Json } from "../util/json-value.js";
import { type InfoName, loadJsonInfo, type Mirror } from "./database.js";

export interface RedactionRules {
  /**
   * The fields that the profile omits. A rule is the end of a field's path, such as `host.last_name`. A prefix limits
   * the rule to one resource, as in `roster:host.last_name`.
   */
  omit: readonly string[];
  /** The fields that are no longer omitted. Records that were read while a field was omitted lack that field. */
  noLongerOmitted: readonly string[];
  /** The IDs of forgotten hosts. Everything about these hosts except the ID is redacted. */
  forgotten: readonly string[];
}

export function loadRedactionRules(mirror: Mirror): RedactionRules {
  const load = (name: InfoName) => loadJsonInfo<string[]>(mirror, name) ?? [];
  return { omit: load("omit"), noLongerOmitted: load("no_longer_omitted"), forgotten: load("forgotten") };
}

export type Redactor = (record: Json, resourceName: string) => Json;

export function createRedactor(mirror: Mirror): Redactor {
  const { omit, forgotten } = loadRedactionRules(mirror);
  if (omit.length + forgotten.length === 0) return (record) => record;
  const isOmitted = createMatcher(omit);
  const hosts = new Set(forgotten);

  function redact(value: Json, resourceName: string, path: string): Json {
    if (Array.isArray(value)) return value.map((item) => redact(item, resourceName, path));
    if (!isObject(value)) return value;
    const isRedacted = (name: string) =>
      (hosts.has(String(value.id)) && name !== "id") ||
      (hosts.has(String(value.host_id)) && /^host_(?!id$)/.test(name)) ||
      isOmitted(`${path}.${name}`, resourceName);
    const fields = Object.entries(value).filter(([name]) => !isRedacted(name));
    return Object.fromEntries(
      fields.map(([name, inner]) => [name, redact(inner, resourceName, `${path}.${name}`)]),
    );
  }
  return (record, resourceName) => redact(record, resourceName, "");
}

/**
 * Returns a function that adds the fields that are no longer omitted to a stored record. It takes their values from the
 * API's record, so that these fields do not count as changes.
 */
export function createRestorer(mirror: Mirror): (stored: Json, sent: Json, resourceName: string) => Json {
  const { noLongerOmitted } = loadRedactionRules(mirror);
  if (noLongerOmitted.length === 0) return (stored) => stored;
  const isNoLongerOmitted = createMatcher(noLongerOmitted);

  function complete(stored: Json, sent: Json, resourceName: string, path: string): Json {
    if (Array.isArray(stored) && Array.isArray(sent)) {
      const counterpart = (item: Json, index: number) =>
        isObject(item) && item.id !== undefined
          ? sent.find((other) => isObject(other) && other.id === item.id)
          : sent[index];
      return stored.map((item, index) =>
        complete(item, counterpart(item, index) ?? null, resourceName, path),
      );
    }
    if (!isObject(stored) || !isObject(sent)) return stored;
    const fields = Object.entries(stored).map(([name, value]) => [
      name,
      complete(value, sent[name] ?? null, resourceName, `${path}.${name}`),
    ]);
    const missing = Object.entries(sent).filter(
      ([name]) => !Object.hasOwn(stored, name) && isNoLongerOmitted(`${path}.${name}`, resourceName),
    );
    return Object.fromEntries([...fields, ...missing]);
  }
  return (stored, sent, resourceName) => complete(stored, sent, resourceName, "");
}

/** Returns a predicate that tests whether any rule matches a field's path, such as `.host.last_name`. */
function createMatcher(rules: readonly string[]): (path: string, resourceName: string) => boolean {
  const parsed = rules.map(parseRule);
  return (path, resourceName) =>
    parsed.some(
      (rule) =>
        (rule.resourceName === undefined || rule.resourceName === resourceName) &&
        path.endsWith(`.${rule.end}`),
    );
}

/** Parses a rule such as `host.last_name` or `roster:host.last_name`. */
function parseRule(rule: string): { end: string; resourceName: string | undefined } {
  const [end = "", resourceName] = rule.split(":").reverse();
  return { end, resourceName };
}

/** True if `rules` omit every field that `rule` omits. */
export function isImpliedBy(rule: string, rules: readonly string[]): boolean {
  const { end, resourceName = "" } = parseRule(rule);
  return createMatcher(rules)(`.${end}`, resourceName);
}

export function omitsHostNames({ omit }: Pick<RedactionRules, "omit">): boolean {
  return omit.some((rule) => /(^|[.:])(first|last)_name$/.test(rule));
}
