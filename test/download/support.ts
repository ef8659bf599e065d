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

/**
 * Creates a brand and syncs its library.
 * @param files each file's fields, keyed by ID
 */
export async function brandWithFiles(files: Readonly<Record<string, object>>): Promise<TestBrand> {
  const content = Object.entries(files).map(([id, fields], n) =>
    fileAt(id, noon - (n + 1) * 3_600_000, { ...fields }),
  );
  const brand = makeBrand({ content });
  expect((await brand.run("sync content")).code).toBe(0);
  return brand;
}

export async function download(brand: TestBrand, flags = "", options: Parameters<TestBrand["run"]>[1] = {}) {
  const run = await brand.run(`download content --json --out ${outputFolder(brand)} ${flags}`, options);
  const lines = run.out.split("\n").filter((line) => line !== "");
  const all = lines.map((line) => JSON.parse(line) as { file?: FileLine; summary?: Record<string, unknown> });
  const files = all.flatMap(({ file }) => file ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { ...run, files, summary: all.find(({ summary }) => summary)?.summary };
}

export function outputFolder(brand: TestBrand): string {
  return join(brand.home, "files");
}

export function listFolder(brand: TestBrand): string[] {
  return existsSync(outputFolder(brand)) ? readdirSync(outputFolder(brand)).sort() : [];
}

/** Returns the ID of the requested file, or undefined if the request was not sent to the file host. */
export function requestedFile({ path }: SentRequest): string | undefined {
  return /^\/files\/\w+\/([^/]+)$/.exec(path)?.[1];
}

/**
 * Makes requests to the file host fail.
 * @param fault receives a file's ID and the number of requests for this file so far
 * @returns the requests sent to the file host
 */
export function failFileRequests(
  brand: TestBrand,
  fault: (id: string, count: number) => Fault | undefined,
): SentRequest[] {
  const requests: SentRequest[] = [];
  brand.before = (request) => {
    const id = requestedFile(request);
    if (id === undefined) return undefined;
    requests.push(request);
    return fault(id, requests.filter((other) => requestedFile(other) === id).length);
  };
  return requests;
}

export function isComplete({ path, id }: FileLine, bytes = size): boolean {
  return readFileSync(path).equals(fileBytes(id, 0, bytes)) && !basename(path).endsWith(".part");
}
