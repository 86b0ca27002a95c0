/** A daemon of an older commit, beside those of this one: as while a new release is installed on one machine after another. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

export interface Older {
  /** Its `daemon.mjs`, which works with its own build and the packages of this checkout. */
  daemon: string;
  /** Deletes it. */
  stop(): void;
}

/** @throws when there is no such commit. */
export function olderCommit(commit: string): Older {
  const dir = mkdtempSync(join(tmpdir(), 'caretaker-older-'));
  const stop = () => rmSync(dir, { recursive: true, force: true });
  try {
    const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1e9 });
    execFileSync('tar', ['-x', '-C', dir], { input: files });
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
    const build = "await (await import('./test/support/built.mjs')).built('clock')";
    execFileSync(process.execPath, ['--input-type=module', '-e', build], { cwd: dir });
  } catch (error) {
    stop();
    throw error;
  }
  return { daemon: join(dir, 'test/chaos/daemon.mjs'), stop };
}
