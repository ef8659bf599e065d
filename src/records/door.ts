import { type Mirror, readInfo } from "../mirror/index.js";
import type { Json } from "../resources/types.js";
import { isObject } from "./values.js";

/** The members and hosts that a mirror does not keep. */
export interface KeptOut {
  /** Members by the end of their path, such as `host.last_name`, or of one resource: `roster:host.socials`. */
  omit: readonly string[];
  /** Ids of hosts of which only the id is kept. */
  forgotten: readonly string[];
}

/**
 * The members that identify a host. They are dropped from an object that has a forgotten host's `id`, and from one that has
 * its `host_id` if their names begin with `host_`. An object named `host` keeps its `id` only.
 */
const identifying = [
  ...["username", "first_name", "last_name", "name", "profile_photo"],
  ...["socials", "title", "intro", "location", "motto"],
];

export function readKeptOut(mirror: Mirror): KeptOut {
  const read = (name: string) => JSON.parse(readInfo(mirror, name) ?? "[]") as string[];
  return { omit: read("omit"), forgotten: read("forgotten") };
}

/** Returns the one function that drops members, at any depth: those omitted, and those of forgotten hosts. */
export function openDoor(mirror: Mirror, resource: string): (value: Json) => Json {
  const { omit, forgotten } = readKeptOut(mirror);
  const hosts = new Set(forgotten);
  const rules = omit.map((rule) => rule.split(":")).filter(([of, path]) => !path || of === resource);
  const ends = rules.map(([of, path]) => `.${path ?? of}`);
  if (ends.length === 0 && hosts.size === 0) return (value) => value;

  function pass(value: Json, path: string): Json {
    if (Array.isArray(value)) return value.map((item) => pass(item, path));
    if (!isObject(value)) return value;
    const isHost = hosts.has(String(value.id));
    const isOfHost = hosts.has(String(value.host_id));
    const isOut = (member: string) =>
      (isHost && (path.endsWith(".host") ? member !== "id" : identifying.includes(member))) ||
      (isOfHost && member.startsWith("host_") && identifying.includes(member.slice(5))) ||
      ends.some((end) => `${path}.${member}`.endsWith(end));
    const kept = Object.entries(value).filter(([member]) => !isOut(member));
    return Object.fromEntries(kept.map(([member, inner]) => [member, pass(inner, `${path}.${member}`)]));
  }
  return (value) => pass(value, "");
}
