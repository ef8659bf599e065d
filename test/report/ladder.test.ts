import { expect, test } from "vitest";
import { chainLadder } from "../../src/report/ladder.js";

/** Taylor and Ashe's claims, as Mack (1993) works them out: incremental, a row an accident year. */
const taylorAshe = [
  [357848, 766940, 610542, 482940, 527326, 574398, 146342, 139950, 227229, 67948],
  [352118, 884021, 933894, 1183289, 445745, 320996, 527804, 266172, 425046],
  [290507, 1001799, 926219, 1016654, 750816, 146923, 495992, 280405],
  [310608, 1108250, 776189, 1562400, 272482, 352053, 206286],
  [443160, 693190, 991983, 769488, 504851, 470639],
  [396132, 937085, 847498, 805037, 705960],
  [440832, 847631, 1131398, 1063269],
  [359480, 1061648, 1443370],
  [376686, 986608],
  [344014],
];

const cumulative = (row: readonly number[]) =>
  row.map((_, age) => row.slice(0, age + 1).reduce((sum, amount) => sum + amount, 0));

test("the textbook's triangle comes to its published reserves and standard errors", () => {
  const { factors, rows, total, totalError } = chainLadder(taylorAshe.map(cumulative));
  expect(Math.round(total)).toBe(18_680_856);
  expect(Math.round(totalError)).toBe(2_447_095);
  expect(factors.map((factor) => Number(factor.toFixed(3)))).toEqual([
    3.491, 1.747, 1.457, 1.174, 1.104, 1.086, 1.054, 1.077, 1.018,
  ]);
  // Mack's table: reserves in thousands, standard errors in per cent of them.
  expect(rows.map((row) => Math.round((row?.reserve ?? 0) / 1_000))).toEqual([
    0, 95, 470, 710, 985, 1419, 2178, 3920, 4279, 4626,
  ]);
  expect(
    rows.slice(1).map((row) => Math.round((100 * (row?.standardError ?? 0)) / (row?.reserve ?? 1))),
  ).toEqual([80, 26, 19, 27, 29, 26, 22, 23, 29]);
});

test("a row that was watched from some age on takes part from there", () => {
  const whole = [[100, 150, 165], [200, 300, 330], [100, 150], [50]];
  const partly = [[undefined, 150, 165], [undefined, 300, 330], [100, 150], [50]];
  const [all, part] = [chainLadder(whole), chainLadder(partly)];
  expect(part.factors).toEqual(all.factors);
  expect(part.rows.map((row) => row?.ultimate)).toEqual(all.rows.map((row) => row?.ultimate));
  expect(part.rows[3]?.reserve).toBeCloseTo(32.5, 9);
});

test("where nothing grows nothing is to come, and an empty triangle comes to nothing", () => {
  expect(chainLadder([[10, 10, 10], [20, 20], [5]])).toMatchObject({ total: 0, totalError: 0 });
  expect(chainLadder([])).toEqual({ factors: [], rows: [], total: 0, totalError: 0 });
  expect(chainLadder([[0, 0], [0]])).toMatchObject({ total: 0, totalError: 0 });
});
