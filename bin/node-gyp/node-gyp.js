#!/usr/bin/env node
// better-sqlite3 is compiled where its prebuilt binary cannot be fetched. node-gyp would then download
// Node's headers, although most installations of Node bring them: this finds those, and hands over to
// npm's own node-gyp. So `npm ci` needs the package registry and nothing else.
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { mendedObjectWrap } = require("./object-wrap.js");

const prefix = dirname(dirname(process.execPath));
if (existsSync(join(prefix, "include", "node", "node_version.h"))) process.env.npm_config_nodedir ??= prefix;
const mended = mendedObjectWrap(process.env.npm_config_nodedir);
// Included first, its guard makes an empty file of the one that better-sqlite3 includes.
if (mended) process.env.CXXFLAGS = `${process.env.CXXFLAGS ?? ""} -include "${mended}"`.trim();
process.env.npm_config_jobs ??= "max";
require(process.env.npm_config_node_gyp);
