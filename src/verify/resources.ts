import { AccessForbidden, BrandapiError } from "../errors.js";
import type { Resource } from "../resources/types.js";
import { type Ended, endsEverything, isSilentEverywhere } from "../sync/engine.js";
import type { Access } from "../sync/run.js";
import { type FullVerdict, verifyResource } from "./engine.js";

/**
 * Proves resources one after another; one that fails does not stop the others, unless nothing answers any more.
 * @param chosen.named whether the person named them: only then is a refusal by scope or plan a failure
 * @param told hears each verdict
 * @throws what would end each of the others the same way
 */
export async function verifyResources(
  access: Access,
  chosen: { due: readonly Resource[]; named: boolean; repair: boolean },
  told: (verdict: FullVerdict) => void,
): Promise<Ended> {
  const ended: Ended = { failures: [], succeeded: 0, unasked: [] };
  access.reporter.expect(chosen.due.map(({ name }) => ({ name, requests: undefined })));
  for (const [index, resource] of chosen.due.entries()) {
    try {
      told(await verifyResource(access, resource, chosen.repair));
      ended.succeeded += 1;
    } catch (error) {
      if (endsEverything(error) || !(error instanceof BrandapiError)) throw error;
      if (chosen.named || !(error instanceof AccessForbidden)) ended.failures.push({ resource, error });
      else access.reporter.warn(`${resource.name}: it was read before, and is refused now: ${error.message}`);
      if (!isSilentEverywhere(error)) continue;
      ended.unasked = chosen.due.slice(index + 1);
      break;
    }
  }
  return ended;
}
