import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";

async function completionsOf(words: string, home = makeHome()): Promise<string[]> {
  const { code, out, err } = await brandapi(["__complete", ...words.split(" ")], { home });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out.split("\n").filter((word) => word !== "");
}

test.each([
  ["sta", "status"],
  ["help stat", "status"],
  ["sync or", "orders"],
  ["sync orders ana", "analytics-clicks analytics-hosts"],
  ["--db x sync --dry", "--dry-run"],
  ["status --prof", "--profile"],
  ["sync --full or", "orders"],
  ["export orders -o ", "nothing"],
  ["whoami or", "nothing"],
  ["status ro", "roster"],
  ["cron --db login ro", "roster"],
  ["--db export sync ro", "roster"],
  ["sync --details ch", "changed"],
  ["export order_l", "order_line_items"],
  ["export content_", "content_downloads content_by_host"],
  ["export orders --columns curr", "currency"],
  ["export orders --columns synced", "synced_at"],
  ["export sales-by-month --columns month,currency,net_b", "month,currency,net_before"],
  ["completion z", "zsh"],
  ["export orders --out ", "nothing"],
  ["nonsense --flag x", "nothing"],
])("completion of `brandapi %s` offers: %s", async (words, names) => {
  expect((await completionsOf(words)).join(" ") || "nothing").toBe(names);
});

test("completion for --profile suggests this machine's profiles, or nothing if they cannot be read", async () => {
  const home = makeHome();
  const env = { BRANDAPI_CONFIG_DIR: home };
  const config = join(home, "config.json");
  writeFileSync(config, JSON.stringify({ profiles: { acme: { key: "k" }, basalt: { key: "k" } } }), {
    mode: 0o600,
  });
  expect((await brandapi(["__complete", "sync", "--profile", ""], { env })).out).toBe("acme\nbasalt\n");
  writeFileSync(config, "{");
  const unreadable = await brandapi(["__complete", "sync", "--profile", ""], { env });
  expect(unreadable).toMatchObject({ code: 0, out: "", err: "" });
});

test("the completion script for bash completes the words up to the cursor", async () => {
  const { out } = await brandapi("completion bash");
  const words = `COMP_WORDS=(brandapi export "or" after); COMP_CWORD=2; _brandapi`;
  const script = `${out}\nbrandapi() { printf '%s\\n' "$@" "two words"; }; ${words}; printf '<%s>' "\${COMPREPLY[@]}"`;
  const { error, stdout } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  if (error === undefined) expect(stdout).toBe("<__complete><export><or><two words>");
});

test.each(["bash", "zsh", "fish"])(
  "the completion script for %s has valid syntax and calls the program",
  async (shell) => {
    const { code, out } = await brandapi(`completion ${shell}`);
    expect(code).toBe(0);
    expect(out).toContain("brandapi __complete");
    const path = join(makeHome(), "script");
    writeFileSync(path, out);
    const read = spawnSync(shell, ["-n", path], { encoding: "utf8" });
    if (read.error === undefined) expect(read.stderr).toBe("");
  },
);
