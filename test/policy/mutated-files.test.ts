import { test } from 'vitest';
import { expectBrokenFilesRead } from './mutations/broken-files.ts';

test('each of 30 broken files is read within a second, and each error has a place', () => {
  expectBrokenFilesRead(30);
});
