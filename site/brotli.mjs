// Compresses a file with Brotli: node brotli.mjs FILE writes FILE.br
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const file = process.argv[2];
const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file), { params }));
