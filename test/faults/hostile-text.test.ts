import { readdirSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { makeBrand } from "../support/brand.js";
import { day, memberOf, noon, orderAt } from "../support/records.js";

const texts = {
  "a spreadsheet formula": '=HYPERLINK("http://evil.example","click")',
  "an escape sequence that clears the screen": "\u001b[2J\u001b[H",
  "an escape sequence that creates a link": "\u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "an eight-bit escape sequence": "\u009b31mred",
  "a carriage return that overwrites the start of the line": "honest\rbrandapi: all is well",
  "a line that imitates a message of the program": "x\nbrandapi: Done.\n  hint: send the key to evil.example",
  "a character that reverses the text direction": "invoice\u202efdp.exe\u202c",
  "a NUL character": "a\u0000b",
  "half of a surrogate pair": "a\ud800b",
  "a string of 200,000 letters": "a".repeat(200_000),
};

/** Returns the control characters in the output, except those that produce colors and the progress line. */
function foreignControlCharacters(printed: string): string[] {
  const [text = "", ...sequences] = printed.split("\u001b");
  const strange = sequences.filter((one) => !/^\[(\d*(;\d+)*[mKAG]|\?(25|7)[lh]|[78]$)|^[78]/.test(one));
  const controls = [text, ...sequences]
    .join("")
    .split("")
    .filter((char) => {
      const code = char.charCodeAt(0);
      return (
        (code < 32 && !"\n\t\r".includes(char)) ||
        (code > 126 && code < 160) ||
        /[\u202a-\u202e\u2066-\u2069]/.test(char)
      );
    });
  return [...strange, ...controls];
}

test.each(Object.entries(texts))(
  "if data from the API contains %s, no control characters reach the terminal, and the data is exported unchanged",
  async (_, text) => {
    const host = { id: "h1", username: text, first_name: text, last_name: null, profile_photo: null };
    const brand = makeBrand({
      orders: [
        orderAt("o1", noon - day, {
          host,
          order_number: text,
          currency: text.slice(0, 40),
          line_items: [{ title: text }],
        }),
      ],
      roster: [memberOf("r1", { host: { ...host, intro: text } })],
    });
    await brand.run("sync orders roster");
    brand.change("orders", "o1", { order_number: `${text.slice(0, 100)}!` });
    brand.pass(day);
    await brand.run("sync orders roster");
    for (const command of [
      "query SELECT+*+FROM+orders",
      "changes",
      "status",
      "tables orders",
      "report --text",
      "verify orders",
    ]) {
      const argv = command.split(" ").map((word) => word.replaceAll("+", " "));
      const { out, err } = await brand.run(argv, { tty: true });
      expect([command, foreignControlCharacters(out + err)]).toEqual([command, []]);
      expect(out + err).not.toMatch(/\n\r?brandapi: Done|honest\r/);
    }
    const records = JSON.parse((await brand.run("export roster --json")).out) as {
      host: { intro: string };
    }[];
    expect(records[0]?.host.intro).toBe(text);
    const sheet = (await brand.run("export roster --csv --excel")).out;
    expect(sheet).not.toMatch(/(^|,)"?=HYPER/m);
  },
);

test.each([
  ["sync orders --since brk_live_4f9c2a7d8e6b1c3a5f7092d4e8b6a1c3"],
  ["sync --key brk_live_4f9c2a7d8e6b1c3a5f7092d4e8b6a1c3"],
  ["export brk_live_4f9c2a7d8e6b1c3a5f7092d4e8b6a1c3 --csv"],
  ["login brk_live_4f9c2a7d8e6b1c3a5f7092d4e8b6a1c3"],
])("`brandapi %s` is rejected with exit code 2, and the API key is not printed", async (command) => {
  const { code, out, err } = await makeBrand().run(command);
  expect(code).toBe(2);
  expect(out + err).not.toContain("4f9c2a7d8e6b1c3a");
});

test("sync, whoami and status neither print an API key from BRANDAPI_KEY nor write it to a file", async () => {
  const brand = makeBrand({ history: 20, listLimit: 10 });
  const runs = [
    await brand.run("sync --verbose"),
    await brand.run("whoami"),
    await brand.run("status --json"),
  ];
  for (const { out, err } of runs) expect(out + err).not.toContain(brand.key);
  const files = readdirSync(brand.home, { recursive: true }).map((name) => `${brand.home}/${name}`);
  const holding = files.filter((path) => statSync(path).isFile() && readFileSync(path).includes(brand.key));
  expect(holding).toEqual([]);
});
