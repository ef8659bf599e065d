import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Bytes of the engine's space for new objects beyond which it may grow no more: twice as much made nothing faster. */
const enough = 8e6;

/**
 * Where page after page is read and thrown away, the engine lets its space for new objects grow to 48 MB, and the rest
 * to several times what is in use. That makes a sync hardly faster, and a third larger. The sizes
 * cannot be set once the process runs, but their growth can be bounded.
 */
export function keepMemorySmall(): void {
  setFlagsFromString("--heap-growing-percent=100");
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    if (young && young.space_size < enough) return;
    setFlagsFromString("--semi-space-growth-factor=1");
    observer.disconnect();
  });
  observer.observe({ entryTypes: ["gc"] });
}
