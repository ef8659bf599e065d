import type { Scenario } from "../bench.js";

export const progress: Scenario = {
  name: "progress",
  about: "The time left that the bar shows, against what then happened",
  slow: true,
  async run() {
    return [];
  },
};
