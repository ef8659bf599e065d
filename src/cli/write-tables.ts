import { join } from "node:path";
import { configPath, expandPath } from "../config/folders.js";
import { UsageError } from "../errors.js";
import type { Encoder, RowSources } from "../export/formats.js";
import { type WriteResult, writeToFile, writeToStdout } from "../export/write-output.js";
import type { RowSource } from "../query/open-rows.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { createFolder, resolveLinks } from "../util/files.js";
import { formatBytes, pluralize, quoteShellWord } from "../util/format-text.js";
import type { Output } from "./output.js";
import type { ReadSession } from "./read-session.js";

/**
 * Writes tables to stdout, to one file, or to one file per table in a folder. For files, prints the number of rows in
 * each table.
 * @throws UsageError if the format and the destination are incompatible, or if the destination is the mirror or the
 * config file
 */
export async function writeTables(
  tables: RowSources,
  output: Output,
  session: ReadSession,
  encode: Encoder,
): Promise<void> {
  const { csv, destination, format } = output;
  const { deps, reporter } = session;
  if (destination.kind !== "folder" && tables.length > 1 && !format.isMultiTable)
    throw new UsageError(`An export with \`--${format.name}\` can contain only one table.`, {
      hint: "use a folder for one file per table, such as `--csv -o exports/`, or a workbook: `-o FILE.xlsx`",
    });
  if (destination.kind === "stdout" && !format.isText && deps.stdout.isTTY)
    throw new UsageError(`\`--${format.name}\` cannot be printed to a terminal.`, {
      hint: `write to a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  const encodeTables = (sources: RowSources) => {
    const names = sources.map(({ name }) => name).join(", ");
    return encode(sources, { csv, warn: (text) => reporter.warn(`${names}: ${text}`) });
  };
  if (destination.kind === "stdout") {
    await writeToStdout(encodeTables(tables), deps.stdout);
    return;
  }

  const isFolder = destination.kind === "folder";
  const files = isFolder
    ? assignFiles(tables, destination.path, output)
    : [{ path: destination.path, sources: tables }];
  if (isFolder) createFolder(expandPath(destination.path, deps));
  const isCompressed = !isFolder && destination.isCompressed;
  const results: WriteResult[] = [];
  for (const { path, sources } of files) {
    await refuseOwnFile(path, session);
    results.push(await writeToFile(encodeTables(sources), expandPath(path, deps), deps, { isCompressed }));
  }
  if (results.some(({ isCutShort }) => isCutShort)) return;
  const rows = new Map(results.flatMap((result) => [...result.rows]));
  const bytes = results.reduce((sum, result) => sum + result.bytes, 0);
  const counts = tables.map(({ name }) => `${name}: ${pluralize(rows.get(name) ?? 0, "row")}`).join(", ");
  reporter.note(`${counts}, ${formatBytes(bytes)}: ${destination.path}`);
}

/** Assigns each table its own file in the folder. */
function assignFiles(
  tables: readonly RowSource[],
  folder: string,
  { csv, format }: Output,
): { path: string; sources: RowSources }[] {
  const [extension] = format.extensions;
  if (extension === undefined)
    throw new UsageError(
      `\`--${format.name}\` writes all tables to one file, but \`${folder}\` is a folder.`,
      {
        hint: `specify a file in this folder: \`-o ${quoteShellWord(join(folder, `export${format.flagOnlyExtensions?.[0] ?? ""}`))}\``,
      },
    );
  const ending = csv.delimiter === "\t" ? ".tsv" : extension;
  return tables.map((source) => ({ path: join(folder, source.name + ending), sources: [source] }));
}

/** @throws UsageError if the output file is the mirror or the config file */
async function refuseOwnFile(path: string, { deps, mirror }: ReadSession): Promise<void> {
  const ownFiles = [...mirrorFiles(await resolveLinks(mirror.path)), await resolveLinks(configPath(deps))];
  if (ownFiles.includes(await resolveLinks(expandPath(path, deps))))
    throw new UsageError(`The output would overwrite the mirror or the config file: ${path}.`, {
      hint: "choose a different file with `-o`",
    });
}
