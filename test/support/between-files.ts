/**
 * The files of a worker share a process and its modules. Each begins without secrets that an earlier file
 * made known, and with the machine's timers; and leaves environment and working folder as they were.
 */
import {
  clearTimeout as realClear,
  setInterval as realInterval,
  setTimeout as realTimeout,
} from 'node:timers';
import { afterAll, expect } from 'vitest';
import { forgetSecrets } from '../../src/secrets.ts';

forgetSecrets();

const shared = () => ({ env: { ...process.env }, cwd: process.cwd() });
const before = shared();
afterAll(() => expect(shared(), 'this file changed what the next one starts from').toEqual(before));

// With a faked timer everything would wait until the test times out.
const isReal = [setTimeout === realTimeout, clearTimeout === realClear, setInterval === realInterval];
if (isReal.includes(false) || !String(Date).includes('[native code]'))
  throw new Error('A test file before this one left the timers of its process faked.');
