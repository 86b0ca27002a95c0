import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { memoryFolder } from '../support/in-memory.ts';

/** A folder with these files, which is deleted after the test. */
export function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(memoryFolder(), 'caretaker-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
