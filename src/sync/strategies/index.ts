import type { Strategy } from "../../resources/types.js";
import type { Reader } from "../run.js";
import { dated } from "./dated.js";
import { details } from "./details.js";
import { full } from "./full.js";
import { monthly } from "./monthly.js";
import { snapshot } from "./snapshot.js";

/** How each kind of resource is read. */
export const strategies: Record<Strategy["kind"], Reader> = {
  dated,
  details,
  full,
  monthly,
  snapshot,
} satisfies {
  [Kind in Strategy["kind"]]: Reader<Strategy & { kind: Kind }>;
} as Record<Strategy["kind"], Reader>;
