#!/usr/bin/env node
// On Node 20, npm compiles better-sqlite3 12 if it cannot download a prebuilt binary. By default, node-gyp then
// downloads Node's headers, although most Node installations include them. In a checkout, npm runs this script instead,
// which calls npm's node-gyp with the installed headers.
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");

const prefix = dirname(dirname(process.execPath));
if (existsSync(join(prefix, "include", "node", "node_version.h"))) process.env.npm_config_nodedir ??= prefix;
process.env.npm_config_jobs ??= "max";
require(process.env.npm_config_node_gyp);
