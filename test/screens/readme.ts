/**
 * The pictures of the README: the first screen of three pages, light, as small as PNG makes them. They are in
 * docs/images; `npm run screens -- --readme` makes them again.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScreenPage } from './pages.ts';
import { shoot } from './shoot.ts';
import { smallPng } from './small-png.ts';

const WIDTH = 1280;
export const imagesFolder = join(import.meta.dirname, '../../docs/images');
/** The file of each, and the name of its page. */
export const readmeImages = { 'overview.png': 'overview', 'run.png': 'runs-one', 'findings.png': 'findings' };
export const MAX_IMAGE_BYTES = 150_000;

/** Returns the errors of the pages, and files that are too large. */
export async function shootForReadme(
  url: string,
  pages: readonly ScreenPage[],
  now: number,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-readme-'));
  const names = Object.values(readmeImages);
  try {
    const errors = await shoot(
      url,
      pages.filter(({ name }) => names.includes(name)),
      { folder, widths: [WIDTH], schemes: ['light'], firstScreen: true, now, user: 'ana' },
    );
    mkdirSync(imagesFolder, { recursive: true });
    for (const [file, name] of Object.entries(readmeImages)) {
      const image = smallPng(readFileSync(join(folder, `${WIDTH}-light`, `${name}.png`)));
      writeFileSync(join(imagesFolder, file), image);
      process.stderr.write(`docs/images/${file}: ${Math.round(image.length / 1_000)} kB\n`);
      if (image.length > MAX_IMAGE_BYTES) errors.push(`${file} has ${image.length} bytes.`);
    }
    return errors;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
