// Linters reject control characters in regular expressions, so the escape character is built from its code.
const esc = String.fromCharCode(27);
const tokens = new RegExp(`${esc}\\[\\??[\\d;]*[A-Za-z]|[\\s\\S]`, "gu");
const parts = new RegExp(`^${esc}\\[(\\??)([\\d;]*)([A-Za-z])$`);

/** Renders output as a terminal would. Returns the lines without colors, and whether the cursor is visible. */
export function screenOf(output: string): { lines: string[]; cursorVisible: boolean } {
  const lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  let cursorVisible = true;
  for (const [token] of output.matchAll(tokens)) {
    const sequence = parts.exec(token);
    const count = Number(sequence?.[2] || 0);
    const line = lines[row] ?? [];
    if (sequence?.[1]) cursorVisible = sequence[2] === "25" ? sequence[3] === "h" : cursorVisible;
    else if (sequence?.[3] === "A") row = Math.max(0, row - Math.max(1, count));
    else if (sequence?.[3] === "B") row += Math.max(1, count);
    else if (sequence?.[3] === "G") column = Math.max(1, count) - 1;
    else if (sequence?.[3] === "K") lines[row] = count === 2 ? [] : line.slice(0, column);
    else if (sequence?.[3] === "J") lines.splice(row, lines.length, line.slice(0, column));
    else if (token === "\r") column = 0;
    else if (token === "\n") [row, column] = [row + 1, 0];
    else if (!sequence) line[column++] = token;
    while (lines.length <= row) lines.push([]);
  }
  return {
    lines: lines.map((line) =>
      Array.from(line, (character) => character ?? " ")
        .join("")
        .trimEnd(),
    ),
    cursorVisible,
  };
}
