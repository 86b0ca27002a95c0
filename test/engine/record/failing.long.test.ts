/** All cases of `failing.test.ts`. */
import './failing.test.ts';
