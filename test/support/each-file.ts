import { afterAll } from "vitest";
import { runAfterFile } from "./home.js";

// Vitest runs this setup file once for each test file.
afterAll(runAfterFile);
