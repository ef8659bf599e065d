import fc from "fast-check";

// A fixed seed makes every run test the same cases. `PROPERTY_SEED=7 npm test` tests different cases.
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20261121) });

/** Generates any character except surrogates. fast-check's generator (`unit: "binary"`) needs 85 MB of memory. */
const character = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

export const anyText = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(""));

export default fc;
