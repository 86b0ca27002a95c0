/** All cases of `launcher.test.ts`. */
import './launcher.test.ts';
