/** All cases of `scripts.test.ts`. */
import './scripts.test.ts';
