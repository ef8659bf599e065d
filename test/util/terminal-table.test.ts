import { expect, test } from "vitest";
import { createStyle, displayWidth } from "../../src/util/terminal.js";
import { renderBlocks, renderTable, tableFits } from "../../src/util/terminal-table.js";
import { testDeps } from "../support/program.js";

const titles = ["id", "title", "total"];
const rows = [
  ["a1", "A rather long title of a campaign", 12.5],
  ["b2", "北京 \u001b[2J", null],
];

test("a table that is not printed to a terminal has its full width, right-aligned numbers and escaped cells", () => {
  expect(renderTable(titles, rows)).toBe(
    [
      "id  title                              total",
      "a1  A rather long title of a campaign   12.5",
      "b2  北京 \\u001b[2J",
    ].join("\n"),
  );
});

test("the widest column is truncated if a table is wider than the terminal", () => {
  const table = renderTable(titles, rows, { width: 30 });
  for (const line of table.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(30);
  expect(table.split("\n")[1]).toBe("a1  A rather long titl…   12.5");
});

test("a table that is too wide omits optional columns one by one before it truncates cells", () => {
  const spare = ["title", "total"];
  expect(renderTable(titles, rows, { width: 50, optionalColumns: spare })).toBe(
    renderTable(titles, rows, { width: 50 }),
  );
  expect(renderTable(titles, rows, { width: 30, optionalColumns: spare })).toBe("id  total\na1   12.5\nb2");
  expect(renderTable(titles, rows, { width: 8, optionalColumns: spare })).toBe("id\na1\nb2");
  expect(renderTable(titles, rows, { optionalColumns: spare })).toBe(renderTable(titles, rows));
});

test("the name of an optional column is ignored if the table does not contain the column", () => {
  expect(renderTable(titles, rows, { width: 30, optionalColumns: ["absent", "title"] })).toBe(
    "id  total\na1   12.5\nb2",
  );
});

test("in a table that is too wide, paths are truncated at the start, or omitted if too few characters would fit", () => {
  const files = [
    ["acme", "/home/ada/.local/share/brandapi/acme.sqlite", 12],
    ["basalt", "/home/ada/.local/share/brandapi/basalt.sqlite", 3],
  ];
  const render = (width: number) =>
    renderTable(["profile", "mirror", "days"], files, { width, pathColumn: "mirror" });
  expect(render(40)).toBe(
    [
      "profile  mirror                     days",
      "acme     …are/brandapi/acme.sqlite    12",
      "basalt   …e/brandapi/basalt.sqlite     3",
    ].join("\n"),
  );
  expect(render(25)).toBe("profile  days\nacme       12\nbasalt      3");
});

test("output is colored only on terminals, and never with --no-color, NO_COLOR or TERM=dumb", () => {
  const terminal = testDeps({ tty: true, columns: 80 }).stdout;
  const pipe = testDeps({ tty: false, columns: 80 }).stdout;
  const red = (stream: typeof pipe, color = true, env = {}) => createStyle(stream, { color }, env).red("x");
  expect(red(terminal)).toBe("\u001b[31mx\u001b[39m");
  for (const plain of [
    red(pipe),
    red(terminal, false),
    red(terminal, true, { NO_COLOR: "1" }),
    red(terminal, true, { TERM: "dumb" }),
  ])
    expect(plain).toBe("x");
  expect(red(terminal, true, { NO_COLOR: "" })).not.toBe("x");
});

const described = [
  ["a1", 12, "one two three four five six seven eight"],
  ["b2", null, null],
];

test.each([
  [
    52,
    "on one line, because the text fits",
    ["id  rows  about", "a1    12  one two three four five six seven eight", "b2"],
  ],
  [
    34,
    "on several lines below the column's header",
    ["id  rows  about", "a1    12  one two three four five", "          six seven eight", "b2"],
  ],
  [
    33,
    "below the row, because fewer than 24 columns remain",
    ["id  rows", "a1    12", "    one two three four five six", "    seven eight", "b2"],
  ],
])(
  "on a terminal with %i columns, the long text in a table's last column is printed %s",
  (width, _, lines) => {
    const options = { width, wrapsLastColumn: true };
    expect(renderTable(["id", "rows", "about"], described, options)).toBe(lines.join("\n"));
  },
);

test("renderTable right-aligns the columns in `rightAligned`, and prints null as `nullText`", () => {
  const table = renderTable(
    ["name", "value"],
    [
      ["x", null],
      [1, "b"],
    ],
    { rightAligned: ["value"], nullText: "null" },
  );
  expect(table).toBe("name  value\nx      null\n1         b");
});

test("a table printed in color has a bold header", () => {
  const style = createStyle(testDeps({ tty: true }).stdout, {});
  expect(renderTable(["id"], [["x"]], { style })).toBe(`${style.bold("id")}\nx`);
  const wrapped = renderTable(["id", "rows", "about"], described, {
    style,
    width: 34,
    wrapsLastColumn: true,
  });
  expect(wrapped).toContain(style.bold("id  rows  about"));
  expect(renderBlocks(["id"], [["x"]], { style })).toBe(`${style.bold("id")}: x`);
});

test("in a table that is too wide, the widest columns are truncated first, but not to fewer than four characters", () => {
  const render = (width: number) => renderTable(["abcdefgh", "ijklmnop"], [["1", "2"]], { width });
  expect(render(15).split("\n")[0]).toBe("abcde…  ijklmn…");
  expect(render(1).split("\n")[0]).toBe("abc…  ijk…");
});

test("a path column is omitted if fewer than 16 characters of it would fit", () => {
  const render = (width: number) =>
    renderTable(["id", "path"], [["a", "/home/ada/mirrors/a.sqlite"]], { width, pathColumn: "path" });
  expect(render(20)).toBe("id  path\na   …irrors/a.sqlite");
  expect(render(19)).toBe("id\na");
});

test("a table fits on a terminal of the same width or of an unknown width, but not on a narrower terminal", () => {
  const fits = (width?: number) => tableFits(["id", "value"], [["a", null]], { width, nullText: "missing" });
  expect([fits(11), fits(10), fits()]).toEqual([true, false, true]);
});

test("renderBlocks renders a block for each row, or the column names if there are no rows", () => {
  expect(
    renderBlocks(
      ["id", "a\u0007"],
      [
        ["x", null],
        ["y", 2],
      ],
      { nullText: "null" },
    ),
  ).toBe("id: x\na\\u0007: null\n\nid: y\na\\u0007: 2");
  expect(renderBlocks(["id"], [[null]], {})).toBe("id:");
  expect(renderBlocks(["id", "title"], [], {})).toBe("id\ntitle");
});
