import { AccessForbidden } from "../errors.js";
import { lastGood } from "../mirror/index.js";
import { resources } from "../resources/index.js";
import { type Check, ok } from "./check.js";

/** What the key may read, against what was read before. */
export const scopes: Check = {
  name: "scopes",
  async *run({ me, mirror }) {
    const { key } = await me();
    const open = await mirror().catch(() => null);
    const lacking = resources.filter(({ scope }) => !key.scopes.includes(scope));
    const lost = open ? lacking.filter(({ name }) => lastGood(open, name)) : [];
    if (lost.length > 0)
      throw new AccessForbidden(
        `The key lacks the scope of what was read before: ${lost.map(({ name, scope }) => `${name} (${scope})`).join(", ")}.`,
        {
          hint: "create a key with these scopes in the brand's console, then run `brandapi login`",
        },
      );
    const left = lacking.length === 0 ? "" : `; not ${lacking.map(({ name }) => name).join(", ")}`;
    yield ok(`the key may read ${resources.length - lacking.length} of ${resources.length} resources${left}`);
  },
};
