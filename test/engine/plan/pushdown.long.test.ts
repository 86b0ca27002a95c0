/** All cases of `pushdown.test.ts`. */
import './pushdown.test.ts';
