/** One report and one mail with each combination of clock, lag of the lists and hidden fields of the service. */
import { afterEach, test } from 'vitest';
import { cases, sendsOnce, title, world } from './claims.ts';

afterEach(() => world.stop());

test.each(cases)(title, sendsOnce);
