import { afterAll } from "vitest";
import { runAfterFile } from "./file-end.js";

// Vitest runs this setup file again for each test file.
afterAll(runAfterFile);
