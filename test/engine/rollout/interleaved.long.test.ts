/** All cases of `interleaved.test.ts`. */
import './interleaved.test.ts';
