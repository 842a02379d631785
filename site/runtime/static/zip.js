// Zip files, as little of them as a workspace needs: written uncompressed, read either way.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** Little-endian numbers: `numbers([4, 0x04034b50], [2, 20])` are six bytes. */
function numbers(...parts) {
  const bytes = [];
  for (const [size, value] of parts) {
    for (let i = 0; i < size; i++) bytes.push((value >>> (8 * i)) & 0xff);
  }
  return Uint8Array.from(bytes);
}

/** Return a zip of {path: text} as a Blob. */
export function zipped(files) {
  const encoder = new TextEncoder(), parts = [], directory = [];
  const now = new Date();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const date = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  let place = 0;
  const add = (list, ...pieces) => {
    list.push(...pieces);
    return pieces.reduce((sum, each) => sum + each.length, 0);
  };
  let size = 0;
  for (const [path, text] of Object.entries(files)) {
    const name = encoder.encode(path), body = encoder.encode(text);
    // version 2.0, names in UTF-8, stored
    const common = [[2, 20], [2, 0x800], [2, 0], [2, time], [2, date], [4, checksum(body)],
                    [4, body.length], [4, body.length], [2, name.length], [2, 0]];
    size += add(directory, numbers([4, 0x02014b50], [2, 0x0314], ...common, [2, 0], [2, 0], [2, 0],
                                   [4, 0o100644 * 0x10000], [4, place]), name);
    place += add(parts, numbers([4, 0x04034b50], ...common), name, body);
  }
  const count = Object.keys(files).length;
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size],
                      [4, place], [2, 0]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

/** Return {path: text} of a zip (an ArrayBuffer); throws an Error for what is none. */
export async function unzipped(buffer) {
  const view = new DataView(buffer), decoder = new TextDecoder();
  let end = view.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("this is no zip file");
  const files = {};
  let entry = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const [method, packed] = [view.getUint16(entry + 10, true), view.getUint32(entry + 20, true)];
    const [named, extra, comment] = [28, 30, 32].map((at) => view.getUint16(entry + at, true));
    const start = view.getUint32(entry + 42, true);
    const path = decoder.decode(new Uint8Array(buffer, entry + 46, named));
    const body = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
    if (method !== 0 && method !== 8) throw new Error(`${path} is packed in a way not known here`);
    if (!path.endsWith("/")) {
      let stream = new Blob([new Uint8Array(buffer, body, packed)]).stream();
      if (method === 8) stream = stream.pipeThrough(new DecompressionStream("deflate-raw"));
      files[path] = await new Response(stream).text();
    }
    entry += 46 + named + extra + comment;
  }
  return files;
}
