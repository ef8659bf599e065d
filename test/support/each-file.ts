import { afterAll } from "vitest";
import { runAfterFile } from "./home.js";

// Vitest loads this setup file once per test file.
afterAll(runAfterFile);
