const show = "\u001b[?25h";
let isHidden = false;

/** A progress bar hides the cursor, and shows it again when it is taken away. */
export function cursorIsHidden(hidden: boolean): void {
  isHidden = hidden;
}

/** What gives the cursor back where the end came before that; nothing where it is there. */
export function cursorBack(): string {
  return isHidden ? show : "";
}
