/** All cases of `continuing.test.ts`. */
import './continuing.test.ts';
