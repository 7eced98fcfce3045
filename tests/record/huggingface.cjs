// Headers of local files as the package @huggingface/hub reads them: the reader that the Hub shows models with.
// usage: huggingface.cjs FOLDER FILE     prints JSON: the header, or the index and the headers of its files
const fs = require("node:fs");
const path = require("node:path");
const { parseSafetensorsMetadata } = require("@huggingface/hub");

const [folder, file] = process.argv.slice(2);

/** A file of the folder in the place of one of a repository, of which a range may be asked for. */
async function fetchLocal(input, init = {}) {
  const url = new URL(input instanceof Request ? input.url : input);
  const local = path.join(folder, path.basename(decodeURIComponent(url.pathname)));
  if (!fs.existsSync(local)) return new Response("", { status: 404 });
  const content = fs.readFileSync(local);
  const range = /bytes=(\d+)-(\d+)/.exec(new Headers(init.headers).get("range") ?? "");
  const begin = range ? Number(range[1]) : 0;
  const end = range ? Math.min(Number(range[2]) + 1, content.length) : content.length;
  const headers = { "content-length": end - begin, etag: '"1"' };
  if (range) headers["content-range"] = `bytes ${begin}-${end - 1}/${content.length}`;
  const response = new Response(content.subarray(begin, end), { status: range ? 206 : 200, headers });
  return Object.defineProperty(response, "url", { value: url.href });
}

parseSafetensorsMetadata({ repo: "local/files", path: file, fetch: fetchLocal }).then(
  (found) => console.log(JSON.stringify(found)),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
