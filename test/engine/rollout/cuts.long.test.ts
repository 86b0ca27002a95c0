/** All cases of `cuts.test.ts`. */
import './cuts.test.ts';
