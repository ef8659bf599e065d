/** The door of this room: what others may use of what a resource's sync remembers. */
export { countPresent, countRemoved } from "./counting.js";
export { addCovered, type Covered, readCoverage, recordCoverage } from "./coverage.js";
export { type Missing, presentIds } from "./missing.js";
export { type Figures, type Goal, noFigures, openState, type SyncState } from "./state.js";
