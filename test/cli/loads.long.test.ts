/** More commands. */
import './loads.test.ts';
