import type { CommandSpec } from "./command.js";

/** The registry of commands, in the order in which help lists them. */
export const commands: readonly CommandSpec[] = [];
