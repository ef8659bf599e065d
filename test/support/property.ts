import fc from "fast-check";

/**
 * fast-check as every test imports it: the suite tries the same cases each time, so that it says the same of the same
 * code. Others by hand: `PROPERTY_SEED=7 npm test`.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20261121) });

export default fc;
