/** All cases of `restored.test.ts`. */
import './restored.test.ts';
