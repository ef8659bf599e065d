/** The word by which a completion script asks for what only this machine knows: see answer.ts. */
export const question = "__complete";
