import { afterAll } from "vitest";
import { runAfterFile } from "./file-end.js";

// Vitest loads this anew for each test file.
afterAll(runAfterFile);
