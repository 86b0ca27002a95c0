/** All cases of `daemon.test.ts`. */
import './daemon.test.ts';
