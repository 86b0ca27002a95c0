/** All cases of `emptied.test.ts`. */
import './emptied.test.ts';
