import type { Brand, ListName, Lists } from "./brand.js";

type RecordOf<L extends ListName> = Lists[L][number];

/** The member by which each list names its records; a library file is `source/id`. */
export function keyOfRecord(list: ListName, record: RecordOf<ListName>): string {
  if (list === "content") return `${record.source}/${record.id}`;
  if (list === "recommendations") return (record as RecordOf<"recommendations">).host.id;
  return String(list === "roster" ? record.relationship_id : record.id);
}

/** The three ways in which a brand's lists change: each puts another array where the old one was. */
export function changesOf(brand: Brand) {
  /** Puts another array in a list's place: each kind of record has its own list. */
  function put<L extends ListName>(list: L, records: readonly RecordOf<L>[]): void {
    brand[list] = records as unknown as Brand[L];
  }

  /** A record comes: it stands first, as the last that came. */
  function add<L extends ListName>(list: L, ...records: RecordOf<L>[]): void {
    put(list, [...records, ...brand[list]]);
  }

  /** Replaces the record whose key this is by another form of itself. */
  function change<L extends ListName>(
    list: L,
    key: string,
    to: Partial<RecordOf<L>> | ((record: RecordOf<L>) => RecordOf<L>),
  ): void {
    const records: readonly RecordOf<L>[] = brand[list];
    const place = records.findIndex((record) => keyOfRecord(list, record) === key);
    const record = records[place];
    if (!record) throw new RangeError(`${list} has no ${key}.`);
    put(list, records.with(place, typeof to === "function" ? to(record) : { ...record, ...to }));
  }

  /** Takes records out, and returns them: `add` brings them back. */
  function remove<L extends ListName>(list: L, ...keys: string[]): RecordOf<L>[] {
    const records: readonly RecordOf<L>[] = brand[list];
    const gone = records.filter((record) => keys.includes(keyOfRecord(list, record)));
    if (gone.length < keys.length) throw new RangeError(`${list} has no ${keys.join(", ")}.`);
    put(
      list,
      records.filter((record) => !gone.includes(record)),
    );
    return gone;
  }

  return { add, change, remove };
}
