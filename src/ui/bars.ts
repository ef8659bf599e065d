import type { MultiBar } from "cli-progress";
import type { Output } from "../deps.js";
import { cursorIsHidden } from "./cursor.js";

/** Lines at the bottom of a terminal that are redrawn in place, with other lines printed above them. */
export interface Bars {
  /** Shows a line, asked for its text at each redraw; returns what takes it away again. */
  show(line: (width: number) => string): () => void;
  /** Prints a line above the bars. */
  print(text: string): void;
  /** Takes all away for good and gives the cursor back; what is printed later is printed plainly. */
  close(): void;
}

/** The terminal itself writes `^C` after the bar: where that begins a new line, the bar cannot be taken away. */
const spareColumns = 3;
const eraseToTheRight = "\u001b[K";

/** cli-progress does the drawing, at most ten times a second; it is loaded when a bar is first shown. */
export function createBars(stream: Output): Bars {
  const lines = new Set<(width: number) => string>();
  let library: typeof import("cli-progress") | undefined;
  let multi: MultiBar | undefined;
  let queue: string[] = [];
  let closed = false;

  function start(): void {
    if (multi || closed || lines.size === 0) return;
    if (!library) {
      void import("cli-progress").then((loaded) => {
        library ??= loaded.default ?? loaded;
        start();
      });
      return;
    }
    multi = new library.MultiBar({
      // It cuts lines by characters, colour codes included; ours fit already.
      stream: unbounded(stream),
      // Off, it would cut long lines printed above the bars at the edge of the terminal.
      linewrap: true,
      clearOnComplete: true,
      hideCursor: true,
      gracefulExit: false,
      // An unchanged bar has to be drawn again below lines that were printed above it.
      forceRedraw: true,
      fps: 10,
    });
    multi.on("update-pre", () => {
      for (const text of queue)
        multi?.log(`${text.replaceAll("\n", `${eraseToTheRight}\n`)}${eraseToTheRight}\n`);
      queue = [];
    });
    cursorIsHidden(true);
    for (const line of lines)
      multi.create(1, 0, {}, { format: () => line(Math.max(20, (stream.columns || 80) - spareColumns)) });
  }

  /** Leaves the terminal as if there had been no bars, with every printed line on it. */
  function stop(): void {
    multi?.stop();
    multi = undefined;
    cursorIsHidden(false);
    for (const text of queue) stream.write(`${text}\n`);
    queue = [];
  }

  return {
    show(line) {
      lines.add(line);
      if (multi) stop();
      start();
      return () => {
        if (!lines.delete(line)) return;
        stop();
        start();
      };
    },
    print(text) {
      if (multi) queue.push(text);
      else stream.write(`${text}\n`);
    },
    close() {
      closed = true;
      lines.clear();
      stop();
    },
  };
}

function unbounded(stream: Output): NodeJS.WritableStream {
  const write = (text: string, ...rest: []) => stream.write(text, ...rest);
  return Object.create(stream, {
    write: { value: write },
    columns: { value: Number.MAX_SAFE_INTEGER },
  }) as NodeJS.WritableStream;
}
