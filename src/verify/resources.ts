import { AccessForbidden, BrandapiError } from "../errors.js";
import type { Resource } from "../resources/types.js";
import { endsEverything } from "../sync/engine.js";
import type { Access } from "../sync/run.js";
import { type FullVerdict, verifyResource } from "./engine.js";

/**
 * Proves resources one after another; one that fails does not stop the others.
 * @param chosen.named whether the person named them: only then is a refusal by scope or plan a failure
 * @param told hears each verdict
 * @returns why those failed that did
 * @throws what would end each of the others the same way
 */
export async function verifyResources(
  access: Access,
  chosen: { due: readonly Resource[]; named: boolean; repair: boolean },
  told: (verdict: FullVerdict) => void,
): Promise<BrandapiError[]> {
  const failures: BrandapiError[] = [];
  for (const resource of chosen.due) {
    try {
      told(await verifyResource(access, resource, chosen.repair));
    } catch (error) {
      if (endsEverything(error) || !(error instanceof BrandapiError)) throw error;
      if (chosen.named || !(error instanceof AccessForbidden)) failures.push(error);
      else access.reporter.warn(`${resource.name}: it was read before, and is refused now: ${error.message}`);
    }
  }
  return failures;
}
