/**
 * Before each file: modules of ours are loaded again for it, so that nothing that one of them keeps reaches
 * the next file. Packages are loaded once for all files of a worker, which is most of what loading costs.
 * What else files of a worker share, its environment and its folder, is at the end as it was.
 */
import { afterAll, expect, vi } from 'vitest';

vi.resetModules();

const shared = () => ({ env: { ...process.env }, cwd: process.cwd() });
const before = shared();
afterAll(() => expect(shared(), 'this file changed what the next one starts from').toEqual(before));
