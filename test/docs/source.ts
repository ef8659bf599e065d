import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The text of every source file, and of the shim. */
export function sourceText(): string {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(root, "src", file));
  return [...files, join(root, "bin", "brandapi.js")].map((file) => readFileSync(file, "utf8")).join("\n");
}
