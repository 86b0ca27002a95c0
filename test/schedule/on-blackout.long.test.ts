/** All cases of `on-blackout.test.ts`. */
import './on-blackout.test.ts';
