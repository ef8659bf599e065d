import type { SingleBar } from "cli-progress";
import type { Output } from "../deps.js";

/** The terminal itself writes `^C` behind the bar; at the edge it would begin a new line. */
const spareColumns = 3;

/**
 * Returns one line at the bottom of a terminal that is redrawn in place; other lines are printed above it. cli-progress
 * draws, and is loaded when a bar is first shown.
 */
export function createBar(stream: Output, isDrawn: boolean) {
  let line: ((width: number) => string) | undefined;
  let bar: SingleBar | undefined;

  async function start(): Promise<void> {
    if (!isDrawn || !line) return;
    const loaded = await import("cli-progress");
    if (bar || !line) return;
    const { SingleBar } = loaded.default ?? loaded;
    bar = new SingleBar({
      stream,
      format: () => line?.((stream.columns || 80) - spareColumns) ?? "",
      clearOnComplete: true,
      // Otherwise a colour code could be cut in two.
      linewrap: false,
      // A signal that ends the process cannot leave the cursor hidden.
      hideCursor: false,
      gracefulExit: false,
      forceRedraw: true,
      fps: 10,
    });
    bar.start(1, 0);
  }

  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    isDrawn,
    /** Draws what `next` returns until it is called without it. */
    show(next?: (width: number) => string): void {
      line = next;
      if (next) void start();
      else stop();
    },
    print(text: string): void {
      stop();
      stream.write(`${text}\n`);
      void start();
    },
  };
}
