import type { Brand, ListName, Lists } from "./brand.js";

/** The member by which each list names its records; a library file is `source/id`. */
export function keyOfRecord(list: ListName, record: Lists[ListName][number]): string {
  if (list === "content") return `${record.source}/${record.id}`;
  if (list === "recommendations") return (record as Lists["recommendations"][number]).host.id;
  return String(list === "roster" ? record.relationship_id : record.id);
}

/** The four ways in which a brand's lists change: each puts another array where the old one was. */
export function changesOf(brand: Brand) {
  /** A record comes: it stands first, as the last that came. */
  function add<L extends ListName>(list: L, ...records: Lists[L][number][]): void {
    brand[list] = [...records, ...brand[list]] as unknown as Brand[L];
  }

  /** Replaces the records whose key this is by another form of themselves. */
  function change<L extends ListName>(
    list: L,
    key: string,
    to: Partial<Lists[L][number]> | ((record: Lists[L][number]) => Lists[L][number]),
  ): void {
    const records: readonly Lists[L][number][] = brand[list];
    const place = records.findIndex((record) => keyOfRecord(list, record) === key);
    const record = records[place];
    if (!record) throw new RangeError(`${list} has no ${key}.`);
    const other = typeof to === "function" ? to(record) : { ...record, ...to };
    brand[list] = records.with(place, other) as unknown as Brand[L];
  }

  /** Takes records out, and returns them: `add` brings them back. */
  function remove<L extends ListName>(list: L, ...keys: string[]): Lists[L][number][] {
    const records: readonly Lists[L][number][] = brand[list];
    const gone = records.filter((record) => keys.includes(keyOfRecord(list, record)));
    if (gone.length < keys.length) throw new RangeError(`${list} has no ${keys.join(", ")}.`);
    brand[list] = records.filter((record) => !gone.includes(record)) as unknown as Brand[L];
    return gone;
  }

  /** Changes every record of a list that `fields` says something for. */
  function changeAll<L extends ListName>(list: L, to: (record: Lists[L][number]) => Lists[L][number]): void {
    const records: readonly Lists[L][number][] = brand[list];
    brand[list] = records.map(to) as unknown as Brand[L];
  }

  return { add, change, remove, changeAll };
}
