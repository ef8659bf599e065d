const blocks = [..."▁▂▃▄▅▆▇█"];
const plainBlocks = [..." .:-=+*#"];

/** Values as a line of blocks, at most so many columns: where there are more, each column is the mean of some. */
export function sparkline(values: readonly number[], columns: number, unicode: boolean): string {
  const marks = unicode ? blocks : plainBlocks;
  const step = Math.max(1, values.length / columns);
  const count = Math.ceil(values.length / step);
  const means = Array.from({ length: count }, (_, nth) => {
    const some = values.slice(
      Math.floor(nth * step),
      Math.max(Math.floor((nth + 1) * step), Math.floor(nth * step) + 1),
    );
    return some.reduce((sum, value) => sum + value, 0) / Math.max(1, some.length);
  });
  const most = Math.max(...means, 0);
  const markOf = (value: number) =>
    most <= 0 ? 0 : Math.round((Math.max(0, value) / most) * (marks.length - 1));
  return means.map((value) => marks[markOf(value)] ?? "").join("");
}

/** A share of 0 to 1 as a bar of so many columns. */
export function textBar(share: number, columns: number, unicode: boolean): string {
  const full = Number.isFinite(share) ? Math.round(Math.min(1, Math.max(0, share)) * columns) : 0;
  return (unicode ? "█" : "#").repeat(full).padEnd(columns);
}
