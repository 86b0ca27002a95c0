/** All cases of `zones.test.ts`. */
import './zones.test.ts';
