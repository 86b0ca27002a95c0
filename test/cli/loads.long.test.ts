/** More commands than in `loads.test.ts`. */
import './loads.test.ts';
