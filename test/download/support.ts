import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "vitest";
import { fileBytes } from "../../src/sandbox/file-host.js";
import { makeBrand, type SentRequest, type TestBrand } from "../support/brand.js";
import type { Fault } from "../support/faults.js";
import { fileAt, noon } from "../support/records.js";

export const size = 300_000;

export interface FileLine {
  id: string;
  source: string;
  path: string;
  outcome: string;
  bytes: number | null;
  sha256: string | null;
  resumed_from: number | null;
  error: string | null;
}

/** A brand whose mirror has read its library: files by id, each with fields of its own. */
export async function libraryOf(files: Readonly<Record<string, object>>): Promise<TestBrand> {
  const content = Object.entries(files).map(([id, fields], n) =>
    fileAt(id, noon - (n + 1) * 3_600_000, { ...fields }),
  );
  const brand = makeBrand({ content });
  expect((await brand.run("sync content")).code).toBe(0);
  return brand;
}

/** Runs `download content --json`, and reads its lines. */
export async function download(brand: TestBrand, flags = "", options: Parameters<TestBrand["run"]>[1] = {}) {
  const run = await brand.run(`download content --json --out ${folderOf(brand)} ${flags}`, options);
  const lines = run.out.split("\n").filter((line) => line !== "");
  const all = lines.map((line) => JSON.parse(line) as { file?: FileLine; summary?: Record<string, unknown> });
  const files = all.flatMap(({ file }) => file ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { ...run, files, summary: all.find(({ summary }) => summary)?.summary };
}

export function folderOf(brand: TestBrand): string {
  return join(brand.home, "files");
}

export function namesIn(brand: TestBrand): string[] {
  return existsSync(folderOf(brand)) ? readdirSync(folderOf(brand)).sort() : [];
}

/** The id of the file that a request to the file host is for; undefined for a request to the API. */
export function fileOf({ path }: SentRequest): string | undefined {
  return /^\/files\/\w+\/([^/]+)$/.exec(path)?.[1];
}

/** Spoils requests to the file host: `fault` is given the file's id and how often it was asked for. */
export function spoilFiles(
  brand: TestBrand,
  fault: (id: string, count: number) => Fault | undefined,
): SentRequest[] {
  const asked: SentRequest[] = [];
  brand.before = (request) => {
    const id = fileOf(request);
    if (id === undefined) return undefined;
    asked.push(request);
    return fault(id, asked.filter((one) => fileOf(one) === id).length);
  };
  return asked;
}

export function isWhole({ path, id }: FileLine, bytes = size): boolean {
  return readFileSync(path).equals(fileBytes(id, 0, bytes)) && !basename(path).endsWith(".part");
}
