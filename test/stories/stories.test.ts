import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultRate } from "../../src/sandbox/people.js";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { day, fileAt, hour, memberOf, noon, openRecord, orderAt, ordersBefore } from "../support/records.js";

/*
 * A story is a Markdown page with code blocks. In a code block, lines that start with `$` are commands, lines that
 * start with `*` are events, and all other lines are the expected output. `npm run stories -- --update` replaces the
 * output in the pages. Review the changes with `git diff`.
 */
const folder = import.meta.dirname;
const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));

test.each(pages)("the commands in the story %s print the recorded output", async (name) => {
  const path = join(folder, name);
  await expect(await runStory(readFileSync(path, "utf8"))).toMatchFileSnapshot(path);
});

/** Runs the commands on a page, and returns the page with their output. */
async function runStory(page: string): Promise<string> {
  let brand = makeBrand({ createsMirror: true });
  const lines: string[] = [];
  let isCode = false;
  for (const line of page.split("\n")) {
    const isFence = line.startsWith("```");
    if (isFence) isCode = !isCode;
    if (isFence || !isCode) lines.push(line);
    else if (line.startsWith("* ")) {
      lines.push(line);
      brand = applyEvent(brand, line.slice(2));
    } else if (line.startsWith("$ ")) lines.push(line, ...(await runCommand(brand, line.slice(2))));
  }
  return lines.join("\n");
}

async function runCommand(brand: TestBrand, line: string): Promise<string[]> {
  const argv = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
  const { code, out, err } = await brand.run(argv.slice(1));
  const text = (out + err).replaceAll(brand.home, "~").replaceAll(/\s+$/gm, "");
  return [...text.split("\n").filter((one) => one !== ""), ...(code === 0 ? [] : [`[exit ${code}]`])];
}

/**
 * Applies one of the events defined here or a sandbox event, and returns the brand for the rest of the story.
 * @param call an event's name with JSON arguments, such as `days(30)`
 */
function applyEvent(brand: TestBrand, call: string): TestBrand {
  const [, name = "", json = ""] = /^(\w+)\((.*)\)$/.exec(call) ?? [];
  const args: unknown[] = JSON.parse(`[${json}]`);
  const [first, second, third] = args;
  const at = (date: unknown) => Date.parse(String(date));
  const events: Record<string, () => TestBrand | unknown> = {
    history: () => makeBrand({ createsMirror: true, history: Number(first) }),
    orders: () => brand.add("orders", ...ordersBefore(noon - hour, Number(first), Number(second) * hour)),
    order: () => brand.add("orders", orderAt(String(first), at(second), { ...(third as object) })),
    member: () => brand.add("roster", memberOf(String(first), { ...(second as object) })),
    members: () =>
      brand.add("roster", ...Array.from({ length: Number(first) }, (_, n) => memberOf(`r${n + 1}`))),
    file: () => brand.add("content", fileAt(String(first), at(second))),
    changeAssignment: () => {
      for (const { id, assignments } of brand.data.opportunities)
        if (assignments.some((one) => one.id === first))
          brand.change("opportunities", id, {
            assignments: assignments.map((one) =>
              one.id === first ? { ...one, ...(second as object) } : one,
            ),
          });
    },
    removeContent: () => brand.remove("content", String(first)),
    changeDefaultRate: () => {
      for (const { relationship_id, commission_rate } of brand.data.roster)
        if (commission_rate === defaultRate)
          brand.change("roster", relationship_id, { commission_rate: Number(first) });
    },
    gift: () => brand.add("gifts", openRecord(String(first), { ...(second as object) })),
    days: () => brand.pass(Number(first) * day),
    key: () => brand.setKey(first as object),
    away: () => Object.assign(brand, { before: () => ({ status: 503 }) }),
    back: () => Object.assign(brand, { before: undefined }),
  };
  const event =
    events[name] ?? (() => (brand[name as keyof TestBrand] as (...all: unknown[]) => unknown)(...args));
  const result = event();
  return name === "history" ? (result as TestBrand) : brand;
}
