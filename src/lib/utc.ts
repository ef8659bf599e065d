/**
 * Returns a timestamp of the API as SQLite writes times: in UTC, with a blank between day and time, so that it compares
 * with `datetime('now', …)`. Its first letters are the day and the month. The digits of its seconds stay.
 */
export function utc(at: string): string {
  const shifted = (offset: string, letters: number) =>
    `substr(datetime(substr(${at}, 1, 10) || ' ' || substr(${at}, 12, 5) || ${offset}), 1, 16)
      || substr(${at}, 17, length(${at}) - ${16 + letters})`;
  return `CAST(CASE
    WHEN ${at} GLOB '????-??-??T??:??:??*Z' THEN substr(${at}, 1, 10) || ' ' || substr(${at}, 12, length(${at}) - 12)
    WHEN ${at} GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN ${shifted(`substr(${at}, -6)`, 6)}
    WHEN ${at} GLOB '????-??-??[Tt ]??:??*[-+]????' THEN ${shifted(`substr(${at}, -5, 3) || ':' || substr(${at}, -2)`, 5)}
    WHEN ${at} GLOB '????-??-??[Tt ]??:??*' THEN substr(${at}, 1, 10) || ' ' || rtrim(substr(${at}, 12), 'Zz')
    WHEN ${at} GLOB '????-??-??' THEN ${at} || ' 00:00:00' END AS TEXT)`;
}
