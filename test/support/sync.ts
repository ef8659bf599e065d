import { BrandapiError, Stopped } from "../../src/errors.js";
import type { RunEnd } from "../../src/mirror/index.js";
import type { Resource } from "../../src/resources/types.js";
import { syncResource } from "../../src/sync/engine.js";
import type { Access } from "../../src/sync/run.js";

/** Reads one resource. @throws what ended the run, if that is a stop or a defect: no test may pass over it */
export async function syncOrThrow(access: Access, resource: Resource): Promise<RunEnd> {
  const end = await syncResource(access, resource);
  const { error } = end;
  if (error instanceof Stopped || (error !== null && !(error instanceof BrandapiError))) throw error;
  return end;
}
