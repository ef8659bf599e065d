import type { Option } from "commander";
import { createCountParser, parseCount, parsedOption } from "./flags.js";

/** The sandbox keeps all orders in memory, so the number of orders must be limited. */
const maxSandboxOrders = 250_000;

export function ordersOption(): Option {
  const about = `number of orders, at most ${maxSandboxOrders} (default: 5000)`;
  return parsedOption("--orders <n>", about, createCountParser(maxSandboxOrders));
}

export function seedOption(): Option {
  return parsedOption("--seed <n>", "seed for the generated data (default: 1)", parseCount);
}
