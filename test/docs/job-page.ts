/** The files on docs/writing-a-job.md. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(resolve(root, 'docs/writing-a-job.md'), 'utf8');

/** Each begins with its name. */
export const shown = [...page.matchAll(/^```(?:ts|yaml)\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```/gm)].map(
  ([, file = '', text = '']) => ({ file, text }),
);
export const code = shown.map(({ file }) => file).filter((file) => file.endsWith('.ts'));
