/** All cases of `frozen.test.ts`. */
import './frozen.test.ts';
