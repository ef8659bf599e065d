import { writeSyntheticMirror } from "./synthetic.js";

/** Makes a mirror of believable orders. Arguments: the file, and how many. */
const [path = "", count = "0"] = process.argv.slice(2);
await writeSyntheticMirror(path, Number(count));
