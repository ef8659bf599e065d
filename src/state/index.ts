/** The door of this room: what others may use of what a resource's sync remembers. */
export { countPresent, countRemoved } from "./counting.js";
export {
  addCovered,
  ageParts,
  forgetAhead,
  isAhead,
  noteRunCoverage,
  readCoverage,
  recordCoverage,
} from "./coverage.js";
export { countUpTo, type Missing, newestKnown, noteKnown, presentIds } from "./missing.js";
export { type Goal, openProgress, type Progress } from "./progress.js";
export { type Figures, noFigures, openState, type SyncState } from "./state.js";
