// Loaded before the program. Ends the process if the program opens a database, a connection, or a file outside the
// program's own folder.
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const { fileURLToPath } = require("node:url");

const own = path.resolve(__dirname, "../..");
const packages = fs.realpathSync(path.join(own, "node_modules"));
const pathOf = (file) =>
  /^file:/.test(String(file)) ? fileURLToPath(String(file)) : path.resolve(String(file));
const isOwn = (file) =>
  typeof file === "number" || [own, packages].some((folder) => pathOf(file).startsWith(folder));

function refuse(what) {
  process.stderr.write(`not on the way to help: ${what}\n`);
  process.exit(99);
}

for (const [module, names] of [
  [fs, ["openSync", "open", "readFileSync", "readFile", "mkdirSync", "mkdir", "writeFileSync", "writeFile"]],
  [fs.promises, ["open", "readFile", "mkdir", "writeFile"]],
])
  for (const name of names) {
    const original = module[name];
    module[name] = (file, ...rest) =>
      isOwn(file) ? original.call(module, file, ...rest) : refuse(`${name} ${file}`);
  }
require("node:module").syncBuiltinESMExports();
process.dlopen = (_, file) => refuse(`dlopen ${file}`);
net.Socket.prototype.connect = () => refuse("connect");
globalThis.fetch = () => refuse("fetch");
