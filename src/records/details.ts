import type { ApiRecord, Json } from "../resources/types.js";

/**
 * What the list says anew of a record, with the members that only its details have: what the API last said of each.
 * What the list had before and has no more is gone. The text of every member is taken over as it was sent.
 */
export function withDetails(list: ApiRecord, listBefore: string | null, detailJson: string): ApiRecord {
  const members = membersOf(detailJson);
  const listed = membersOf(list.json);
  for (const member of membersOf(listBefore ?? "").keys()) if (!listed.has(member)) members.delete(member);
  for (const [member, text] of listed) members.set(member, text);
  const json = `{${[...members].map(([member, text]) => `${member}:${text}`).join(",")}}`;
  return { json, value: JSON.parse(json) as Json };
}

/** The members of a minified object, name (quoted) and value as text. */
function membersOf(json: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let start = 1;
  let name = "";
  for (const { 0: part, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (part === "{" || part === "[") depth += 1;
    else if (part === "}" || part === "]") depth -= 1;
    else if (part === ":" && depth === 1 && name === "") {
      name = json.slice(start, index);
      start = index + 1;
    }
    const isEnd = (part === "," && depth === 1) || depth === 0;
    if (!isEnd) continue;
    if (name !== "") members.set(name, json.slice(start, index));
    name = "";
    start = index + 1;
  }
  return members;
}
