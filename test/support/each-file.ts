import { afterAll } from "vitest";
import { endFile } from "./file-end.js";

// Vitest loads this anew for each test file.
afterAll(endFile);
