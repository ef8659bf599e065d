import { statSync } from "node:fs";
import { join } from "node:path";
import { runBrandapi, type Scenario } from "../bench.js";
import { interleaved } from "../measure.js";

const orders = 250_000;
/** The command renders the report in a separate process. */
const note = "memory and CPU exclude the rendering process, which can be measured with `/usr/bin/time -v`";

export const report: Scenario = {
  name: "report",
  about: "Report of 250,000 orders",
  slow: true,
  async run(bench) {
    const { env } = await bench.serve({ orders });
    const mirror = join(bench.folder, "mirror.sqlite");
    bench.say("filling a mirror");
    await runBrandapi(bench, ["sync", "orders", "--quiet", "--db", mirror], env);
    const page = join(bench.folder, "report.html");
    const told = ["report", "--quiet", "--month", "2025-12", "--db", mirror];
    const { html, text } = await interleaved(Math.min(bench.rounds, 3), {
      html: () => runBrandapi(bench, [...told, "-o", page]),
      text: () => runBrandapi(bench, [...told, "--text"]),
    });
    const kilobytes = Math.round(statSync(page).size / 1_000);
    return [
      { what: `\`report\`, ${kilobytes} kB`, goal: "5 s, 250 MB, 1 MB", measured: html, note },
      { what: "`report --text`", goal: "5 s, 250 MB", measured: text, note },
    ];
  },
};
