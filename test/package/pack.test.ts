import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as { version: string };

interface Packed {
  filename: string;
  unpackedSize: number;
  files: { path: string; mode: number }[];
}

/** Lists the files in the tarball, without rebuilding the program. */
function listTarball(): Packed {
  const text = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const result: unknown = JSON.parse(text);
  // npm 11 and older print an array, but npm 12 prints an object keyed by package name.
  const [only] = Object.values(result as Record<string, Packed>);
  if (!only) throw new Error("npm pack listed no package");
  return only;
}

const packed = listTarball();

test("the tarball contains the program and its documents, and nothing else", () => {
  const { files, filename, unpackedSize } = packed;
  const paths = files.map(({ path }) => path);
  const isDocument = (path: string) => /^(src|test|\.github)\/.*(README\.md|SECURITY\.md|\.png)$/.test(path);
  const outside = paths.filter((path) => !path.startsWith("dist/") && !isDocument(path));
  expect(filename).toBe(`brandapi-${version}.tgz`);
  expect(outside.toSorted()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "bin/brandapi.js",
    "package.json",
  ]);
  expect(paths).toContain("dist/main.js");
  expect(unpackedSize).toBeLessThan(3_700_000);
});

test("every link in the tarball's documents points to a file in the tarball", () => {
  const paths = new Set(packed.files.map(({ path }) => path));
  const documents = [...paths].filter((path) => path.endsWith(".md"));
  const links = documents.flatMap((path) => {
    const targets = readFileSync(`${root}/${path}`, "utf8").matchAll(/\]\((?!https?:)([^)#\s]+)/g);
    return [...targets].map(([, target = ""]) => join(dirname(path), target));
  });
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !paths.has(link))).toEqual([]);
});

test("the bin script is executable", () => {
  expect(statSync(`${root}/bin/brandapi.js`).mode & 0o111).toBe(0o111);
  const packageJson = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  expect(existsSync(`${root}/${packageJson.bin.brandapi}`)).toBe(true);
});

test("no dependency refers to a local folder", () => {
  const packageJson = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  const dependencies = { ...packageJson.dependencies, ...packageJson.optionalDependencies };
  expect(Object.values(dependencies).filter((wanted) => String(wanted).startsWith("file:"))).toEqual([]);
});

test("npm ci compiles nothing on Node 22 and later", () => {
  // Before npm 12, `npm ci` compiles a package with a binding.gyp unless `gypfile` is false in package-lock.json. Since
  // `npm install` removes the line `"gypfile": false`, restore the line afterwards.
  const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, "utf8"));
  expect(packages["node_modules/better-sqlite3"].gypfile).toBe(false);
});
