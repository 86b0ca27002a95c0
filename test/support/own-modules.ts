/**
 * Before each file: our own modules are loaded again, so that no module state reaches the next file. Packages
 * are loaded once for all files of a worker, because loading them is slow. Environment and working folder,
 * which files of a worker share, are restored at the end.
 */
import { afterAll, expect, vi } from 'vitest';

vi.resetModules();

const shared = () => ({ env: { ...process.env }, cwd: process.cwd() });
const before = shared();
afterAll(() => expect(shared(), 'this file changed what the next one starts from').toEqual(before));
