import { afterAll } from "vitest";
import { runAfterFile } from "./file-end.js";

// Vitest runs this setup file once for each test file.
afterAll(runAfterFile);
