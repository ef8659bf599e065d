/** What is left to end or to remove when the test file under way is done. */
const ends: (() => unknown)[] = [];

/**
 * For what the tests of one file share. Many files run in one process, which loads a module once: of an `afterAll` in a
 * module that they import, only the first of them would hear.
 */
export function afterFile(end: () => unknown): void {
  ends.push(end);
}

export async function runAfterFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
