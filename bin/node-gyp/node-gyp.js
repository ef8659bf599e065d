#!/usr/bin/env node
// On Node 20, npm compiles better-sqlite3 12 if it cannot download a prebuilt module. node-gyp would then download
// Node's headers from outside the package registry, although most Node installations include the headers. In a
// checkout, this script takes precedence over npm's node-gyp, and runs npm's node-gyp with the installed headers.
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");

const prefix = dirname(dirname(process.execPath));
if (existsSync(join(prefix, "include", "node", "node_version.h"))) process.env.npm_config_nodedir ??= prefix;
process.env.npm_config_jobs ??= "max";
require(process.env.npm_config_node_gyp);
