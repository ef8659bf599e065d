import fc from "fast-check";

/**
 * fast-check with a fixed seed, so that the suite tests the same cases each time. `PROPERTY_SEED=7 npm test` tests others.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20261121) });

/** Any character except halves of surrogate pairs. fast-check's own (`unit: "binary"`) keeps 85 MB in memory. */
const character = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

/** Text of at most 12 characters. */
export const anyText = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(""));

export default fc;
