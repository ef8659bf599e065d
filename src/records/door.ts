import { type Mirror, readInfo } from "../mirror/index.js";
import type { Json } from "../resources/types.js";
import { isObject } from "./values.js";

/** What a mirror does not keep. */
export interface KeptOut {
  /** Members by path, such as `host.last_name`, or of one resource: `roster:host.socials`. */
  omit: readonly string[];
  /** Ids of hosts that nothing but the id is kept of. */
  forgotten: readonly string[];
}

/** Returns a value without what is kept out. @param path where the value stands in its record: `.host` */
export type Door = (value: Json, path?: string) => Json;

/** Members that identify a host, in any object that has its id or `host_id`. Of the object `host` only the id is kept. */
const identifying = [
  ...["username", "first_name", "last_name", "name", "profile_photo"],
  ...["socials", "title", "intro", "location", "motto"],
];

export function readKeptOut(mirror: Mirror): KeptOut {
  const read = (name: string) => JSON.parse(readInfo(mirror, name) ?? "[]") as string[];
  return { omit: read("omit"), forgotten: read("forgotten") };
}

/**
 * Returns the one function by which members are kept out of a mirror, at any depth: those that are omitted, and those
 * that identify forgotten hosts.
 * @param dropped is given each member that is dropped, and its value
 */
export function openDoor(
  mirror: Mirror,
  resource: string,
  dropped: (member: string, value: Json) => void = () => {},
): Door {
  const { omit, forgotten } = readKeptOut(mirror);
  const hosts = new Set(forgotten);
  const paths = omit
    .map((rule) => rule.split(":"))
    .filter((parts) => parts.length === 1 || parts[0] === resource)
    .map((parts) => `.${parts.at(-1)}`);
  if (paths.length === 0 && hosts.size === 0) return (value) => value;

  function pass(value: Json, path: string): Json {
    if (Array.isArray(value)) return value.map((item) => pass(item, path));
    if (!isObject(value)) return value;
    const isForgotten = (id: Json | undefined) => id !== undefined && hosts.has(String(id));
    const isHost = isForgotten(value.id);
    const isOfHost = isForgotten(value.host_id);
    const isOut = (member: string) =>
      (isHost && member !== "id" && (path.endsWith(".host") || identifying.includes(member))) ||
      (isOfHost && member.startsWith("host_") && identifying.includes(member.slice(5))) ||
      paths.some((one) => `${path}.${member}`.endsWith(one));
    return Object.fromEntries(
      Object.entries(value).flatMap(([member, inner]): [string, Json][] => {
        if (!isOut(member)) return [[member, pass(inner, `${path}.${member}`)]];
        dropped(member, inner);
        return [];
      }),
    );
  }
  return (value, path = "") => pass(value, path);
}
