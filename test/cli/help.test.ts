import { expect, test } from "vitest";
import { durationFormats, timeFormats } from "../../src/util/times.js";
import { commands, examplesOf } from "../support/commands.js";
import { brandapi } from "../support/program.js";

test("the program's help lists the commands in groups", async () => {
  const { out, code, err } = await brandapi("--help");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const headings = [
    "Options:",
    "Set up:",
    "Maintain the mirror:",
    "Use the data:",
    "Try without a key:",
    "Help:",
  ];
  const places = headings.map((heading) => out.indexOf(`${heading}\n`));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  for (const command of commands)
    expect(out).toMatch(new RegExp(`^  ${command.name()}\\b.*  ${command.summary().split(" ")[0]}`, "m"));
});

test.each(commands.map((one) => [one.name(), one] as const))(
  "the help of %s fits 50 lines of 80 columns, and shows every flag and two to four examples",
  async (name, command) => {
    const help = await brandapi(`${name} --help`, { columns: 80, tty: true });
    expect(help.code).toBe(0);
    expect((await brandapi(`help ${name}`, { columns: 80, tty: true })).out).toBe(help.out);
    const lines = help.out.trimEnd().split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(50);
    const examples = examplesOf(command);
    expect([2, 3, 4]).toContain(examples.length);
    for (const example of examples) expect(example).toContain(`brandapi ${name}`);
    for (const { flags } of command.options) expect(help.out).toContain(flags);
  },
);

test("the flags of every command stand in the program's help, and each other help says so", async () => {
  const { out } = await brandapi("--help");
  for (const flag of [
    "--profile",
    "--db",
    "--base-url",
    "--key-file",
    "--max-wait",
    "--json",
    "--quiet",
    "--verbose",
  ])
    expect(out).toContain(`  ${flag}`);
  for (const command of ["sync --help", "help whoami"]) {
    const help = (await brandapi(command)).out;
    expect(help).toContain("`brandapi --help`");
    expect(help).not.toMatch(/^ {2}--(?:profile|key-file|no-color)/m);
  }
});

test("no command at all is the program's help", async () => {
  expect(await brandapi("help")).toMatchObject({ code: 0, out: (await brandapi("")).out });
  expect((await brandapi("")).out).toBe((await brandapi("--help")).out);
});

test.each([
  ["whoam", "Unknown command: `whoam`.", "did you mean `whoami`?"],
  ["WHOAMI", "Unknown command: `WHOAMI`.", "did you mean `whoami`?"],
  ["help logni", "Unknown command: `logni`.", "did you mean `login`?"],
  ["xyzzy", "Unknown command: `xyzzy`.", "see `brandapi --help`"],
  ["whoami --profil a", "Unknown option `--profil`.", "did you mean `--profile`?"],
  ["--jsn whoami", "Unknown option `--jsn`.", "did you mean `--json`?"],
  ["whoami --xyzzy", "Unknown option `--xyzzy`.", "see `brandapi whoami --help`"],
  ["whoami --profile", "Option `--profile <profile>` argument missing.", "see `brandapi whoami --help`"],
  [
    "whoami extra",
    "Too many arguments for `whoami`. Expected 0 arguments but got 1.",
    "see `brandapi whoami --help`",
  ],
  [
    "whoami --rate-limit 0",
    "The rate limit is not a number of requests a minute: `0`.",
    "use a whole number such as 60, or `none`",
  ],
  ["sync rooster", "Unknown resource: `rooster`.", "did you mean `roster`?"],
  ["sync orders --per-host", "`orders` takes no `--per-host`.", "leave it out, or sync `orders` without it"],
  [
    "sync analytics-clicks roster --host 0a1b2c3d-0000-4000-8000-00000000000f",
    "`roster` takes no `--host`.",
    "leave it out, or sync `roster` without it",
  ],
  [
    "sync orders roster --until yesterday",
    "`roster` takes no `--until`.",
    "leave it out, or sync `roster` without it",
  ],
  ...(
    [
      ["roster", "--details", "all"],
      ["roster", "--window", "3"],
      ["opportunities", "--window", "3"],
      ["analytics-clicks", "--audit", "3"],
      ["orders", "--details", "none"],
    ] as const
  ).map(([name, flag, value]): [string, string, string] => [
    `sync ${name} ${flag} ${value}`,
    `\`${name}\` takes no \`${flag}\`.`,
    `leave it out, or sync \`${name}\` without it`,
  ]),
  [
    "sync analytics-clicks --host abc",
    "Not a host ID: `abc`.",
    'a host ID is a UUID; `brandapi query "SELECT id, host_username FROM hosts"` lists them',
  ],
  ["verify --accept-removals", "`--accept-removals` is for `--repair`.", "add `--repair`, or leave it out"],
  ["tables orders --all", "`--all` only applies to the list of tables.", "omit `--all` or `orders`"],
  [
    "tables --all --delta x",
    "Option `--delta <folder>` cannot be used with option `--all`.",
    "leave one of them out",
  ],
  ["download photos", "Unknown resource: `photos`.", "use `content`"],
  ["sandbox --port 99999", "Not a whole number in range: `99999`.", "use one from 0 to 65535"],
  ["export orders --retain 30d", "`--retain` is for `--delta`.", "add `--delta FOLDER`, or leave it out"],
  [
    "sync --details chnged",
    "Option `--details <which>` argument `chnged` is invalid.",
    "did you mean `changed`?",
  ],
  ["sync --db=", "A path is empty.", "name one, or leave it out"],
  ["--quiet", "No command was given.", "see `brandapi --help`"],
  [
    "--db x status --all-profiles",
    "Option `--all-profiles` cannot be used with option `--db <path>`.",
    "leave one of them out",
  ],
])("`brandapi %s` is a usage error that says what to do", async (command, message, hint) => {
  const { code, out, err } = await brandapi(command);
  expect(err).toBe(`brandapi: ${message}\n  hint: ${hint}\n`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test.each(["demo", "demo --challenge", "completion bash"])(
  "`brandapi %s --json` is refused",
  async (command) => {
    const { code, out } = await brandapi(`${command} --json`);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      error: { message: expect.stringContaining("prints no JSON."), hint: "leave out `--json`" },
    });
  },
);

test("flags work before the command's name and after it; after it wins", async () => {
  const before = await brandapi("--profile acme whoami");
  expect(before.err).toContain("for the profile `acme`");
  expect((await brandapi("whoami --profile acme")).err).toBe(before.err);
  expect((await brandapi("--profile other whoami --profile acme")).err).toBe(before.err);
  expect(JSON.parse((await brandapi("--json whoami")).out).error.code).toBe("configuration");
});

test("help names the forms of a time or a duration where a flag takes one", async () => {
  const help = async (name: string) => (await brandapi(`${name} --help`)).out.replace(/\s+/g, " ");
  expect(await help("changes")).toContain(timeFormats);
  expect(await help("changes")).not.toContain(durationFormats);
  expect(await help("status")).toContain(durationFormats);
  expect(await help("logout")).not.toContain("UTC");
});
