import { deleteInfo, type Mirror, readInfo, writeInfo } from "./database.js";

/** The API's refusal of a resource (402 or 403). `at`: ISO 8601. */
export interface Refusal {
  at: string;
  error: string;
  hint: string | null;
}

/** Returns the name of the entry of `mirror_info` with a resource's refusal. */
function refusalName(resource: string): string {
  return `refused:${resource}`;
}

/** Records that the key or the plan does not allow a resource; null clears it, because it was read again. */
export function writeRefusal(mirror: Mirror, resource: string, refusal: Refusal | null): void {
  const name = refusalName(resource);
  mirror.transaction(() =>
    refusal ? writeInfo(mirror, name, JSON.stringify(refusal)) : deleteInfo(mirror, name),
  );
}

/** Returns the refusal that ended the resource's last run that reached the API; null if there was none. */
export function readRefusal(mirror: Mirror, resource: string): Refusal | null {
  const json = readInfo(mirror, refusalName(resource));
  return json === null ? null : (JSON.parse(json) as Refusal);
}
