/** Those of `schedule-range.test.ts` that need a browser. */
import './schedule-range.test.ts';
