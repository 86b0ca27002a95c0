/**
 * Makes a PNG of a page smaller: at most 256 colours, which are enough for text on flat surfaces, and the best
 * compression of zlib. Only what browsers write is read: 8 bits for each channel, without interlacing.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

interface Pixels {
  width: number;
  height: number;
  /** Red, green and blue of each pixel. */
  rgb: Uint8Array;
}

export function smallPng(png: Buffer): Buffer {
  const pixels = decode(png);
  const { palette, indexes } = withPalette(pixels);
  const { width, height } = pixels;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits, colours from a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

function decode(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let [width, height, channels] = [0, 0, 3];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      width = data.readUInt32BE(0);
      height = data.readUInt32BE(4);
      const [bits, colours] = [data[8], data[9]];
      if (bits !== 8 || (colours !== 2 && colours !== 6))
        throw new Error(`A PNG with ${bits} bits of kind ${colours} cannot be read.`);
      channels = colours === 6 ? 4 : 3;
    }
    if (type === 'IDAT') parts.push(data);
    at += 12 + length;
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  if (channels === 3) return { width, height, rgb: bytes };
  const rgb = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    rgb.set(bytes.subarray(pixel * 4, pixel * 4 + 3), pixel * 3);
  return { width, height, rgb };
}

/** Undoes the filter of each row (PNG specification, 9.2). */
function unfiltered(data: Buffer, rowLength: number, height: number, channels: number): Uint8Array {
  const bytes = new Uint8Array(rowLength * height);
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (rowLength + 1)] ?? 0;
    for (let x = 0; x < rowLength; x += 1) {
      const at = y * rowLength + x;
      const left = x < channels ? 0 : (bytes[at - channels] ?? 0);
      const up = y === 0 ? 0 : (bytes[at - rowLength] ?? 0);
      const corner = y === 0 || x < channels ? 0 : (bytes[at - rowLength - channels] ?? 0);
      bytes[at] = (data[y * (rowLength + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  return bytes;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const near = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(near - left), Math.abs(near - up), Math.abs(near - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** The 256 most frequent colours; every other pixel gets the nearest of them. */
function withPalette({ width, height, rgb }: Pixels): { palette: Uint8Array; indexes: Uint8Array } {
  const counts = new Map<number, number>();
  const colourAt = (pixel: number) =>
    ((rgb[pixel * 3] ?? 0) << 16) | ((rgb[pixel * 3 + 1] ?? 0) << 8) | (rgb[pixel * 3 + 2] ?? 0);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const colour = colourAt(pixel);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const chosen = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([colour]) => colour);
  const indexOf = new Map(chosen.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) if (!indexOf.has(colour)) indexOf.set(colour, nearest(chosen, colour));
  const indexes = new Uint8Array(width * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) indexes[pixel] = indexOf.get(colourAt(pixel)) ?? 0;
  return { palette: Uint8Array.from(chosen.flatMap(channelsOf)), indexes };
}

const channelsOf = (colour: number): number[] => [colour >> 16, (colour >> 8) & 255, colour & 255];

function nearest(chosen: readonly number[], colour: number): number {
  const wanted = channelsOf(colour);
  let [best, least] = [0, Infinity];
  for (const [index, one] of chosen.entries()) {
    const distance = channelsOf(one).reduce(
      (sum, value, channel) => sum + (value - (wanted[channel] ?? 0)) ** 2,
      0,
    );
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}
