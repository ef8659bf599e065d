import { expect, test } from "vitest";
import { openPrompt } from "../../src/cli/prompt.js";
import { Stopped } from "../../src/errors.js";
import { testDeps } from "../support/program.js";

const esc = String.fromCharCode(27);

async function answerTo(stdin: string, hidden = false) {
  const deps = testDeps({ tty: true, stdin });
  const prompt = openPrompt(deps);
  const answer = await prompt.ask("Name: ", { hidden }).finally(() => prompt.close());
  return { answer, shown: deps.stderr.text, raw: deps.stdin.raw };
}

test.each([
  ["a newline ends the answer, as Enter does", "acme\n", "acme"],
  ["Backspace deletes the last character", "acx\u007fmy\b\be\r", "ace"],
  ["Backspace on an empty line is ignored", "\u007f\bacme\r", "acme"],
  ["arrow keys and the delete key are ignored", `ac${esc}[D${esc}OC${esc}[3~me${esc}x\r`, "acme"],
  ["Tab and other control characters are ignored", "a\tc\u0001me\r", "acme"],
  ["Ctrl-D after some text is ignored", "ac\u0004me\r", "acme"],
  ["multi-byte characters are part of the answer", "Fjällräv 🦊\r", "Fjällräv 🦊"],
])("at a prompt, %s", async (_, typed, answer) => {
  expect((await answerTo(typed)).answer).toBe(answer);
});

test("a prompt echoes the answer unless the answer is hidden, and uses raw mode until the prompt is closed", async () => {
  expect(await answerTo("\bacx\u007fme\r")).toEqual({
    answer: "acme",
    shown: "Name: acx\b \bme\n",
    raw: [true, false],
  });
  expect(await answerTo("acme\r", true)).toEqual({ answer: "acme", shown: "Name: \n", raw: [true, false] });
});

test("each Enter answers one prompt, even if the terminal sends CR and LF", async () => {
  const prompt = openPrompt(testDeps({ tty: true, stdin: "acme\r\nbasalt\r\n" }));
  expect(await prompt.ask("", {})).toBe("acme");
  expect(await prompt.ask("", {})).toBe("basalt");
  prompt.close();
});

test("a prompt decodes a character whose bytes arrive in two parts", async () => {
  const deps = testDeps({ tty: true });
  const prompt = openPrompt(deps);
  const answer = prompt.ask("", {});
  for (const part of [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0d])]) deps.stdin.push(part);
  expect(await answer).toBe("ä");
  prompt.close();
});

test("at a prompt, Ctrl-C ends the command, while Ctrl-D on an empty line, the end of input and a very long answer are errors", async () => {
  await expect(answerTo("ac\u0003")).rejects.toMatchObject({
    exitCode: 130,
    hint: "nothing has been changed",
  });
  await expect(answerTo("\u0004")).rejects.toThrow("Nothing was entered");
  await expect(answerTo(`${"x".repeat(20_000)}\r`)).rejects.toThrow("too long");
  expect((await answerTo(`${"x".repeat(19_999)}\r`)).answer).toHaveLength(19_999);
  const deps = testDeps({ tty: true, stdin: "ac" });
  deps.stdin.push(null);
  await expect(openPrompt(deps).ask("", {})).rejects.toThrow("Nothing was entered");
});

test("a signal during a prompt ends the command with the exit code for the signal", async () => {
  const stop = new AbortController();
  const prompt = openPrompt(testDeps({ tty: true, signal: stop.signal }));
  const answer = prompt.ask("", {});
  stop.abort(new Stopped("SIGTERM"));
  await expect(answer).rejects.toMatchObject({ exitCode: 143 });
});
