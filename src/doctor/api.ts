import { AccessForbidden, KeyRejected } from "../errors.js";
import { type Check, ok } from "./check.js";

/** Whether the API can be reached: a refusal is an answer too. */
export const api: Check = {
  name: "api",
  async *run({ me }) {
    const took = await me().then(
      ({ tookMs }) => ` in ${Math.round(tookMs)} ms`,
      (error: unknown) => {
        if (error instanceof KeyRejected || error instanceof AccessForbidden) return "";
        throw error;
      },
    );
    yield ok(`it answers${took}`);
  },
};
