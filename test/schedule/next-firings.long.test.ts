/** All cases of `next-firings.test.ts`. */
import './next-firings.test.ts';
