/** The door of this room: figures, and the text that is made of them; the page is loaded by who writes it. */

export { type Report, reportOf, type Sales, salesOf } from "./figures.js";
export { createNumbers, readLocale } from "./numbers.js";
export { salesLines } from "./text/sales.js";
export { writeText } from "./text/write.js";
