/** The door of this room: library files. */
export { type LibraryFile, selectFiles } from "./catalogue.js";
export { type DownloadSummary, downloadFiles, type FileResult } from "./engine.js";
