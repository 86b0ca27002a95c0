/**
 * The files of a worker share a process and its modules. Each begins without secrets that an earlier file
 * made known, and leaves environment and working folder as they were.
 */
import { afterAll, expect } from 'vitest';
import { forgetSecrets } from '../../src/secrets.ts';

forgetSecrets();

const shared = () => ({ env: { ...process.env }, cwd: process.cwd() });
const before = shared();
afterAll(() => expect(shared(), 'this file changed what the next one starts from').toEqual(before));
