import { AccessForbidden, BrandapiError } from "../errors.js";
import { forgetInfo, readInfo, writeInfo } from "./info.js";
import type { Mirror } from "./mirror.js";

/** The last refusal (402 or 403) of a resource. `at`: ISO 8601. */
export interface Refusal {
  at: string;
  error: string;
  hint: string | null;
}

const nameFor = (resource: string) => `refused:${resource}`;

/** Records that the key or the plan does not allow a resource; null: it was read again. */
export function noteRefusal(mirror: Mirror, resource: string, refusal: Refusal | null): void {
  const name = nameFor(resource);
  mirror.transaction(() =>
    refusal ? writeInfo(mirror, name, JSON.stringify(refusal)) : forgetInfo(mirror, name),
  );
}

/** Returns the refusal that ended the resource's last run that reached the API; null if there was none. */
export function readRefusal(mirror: Mirror, resource: string): Refusal | null {
  const noted = readInfo(mirror, nameFor(resource));
  return noted === null ? null : (JSON.parse(noted) as Refusal);
}

/** Returns the API's refusal if it is the error or its cause. */
export function refusalIn(error: unknown): AccessForbidden | null {
  if (error instanceof AccessForbidden) return error;
  return error instanceof BrandapiError && error.cause instanceof AccessForbidden ? error.cause : null;
}
