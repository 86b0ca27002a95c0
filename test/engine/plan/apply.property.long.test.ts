/** All cases of `apply.property.test.ts`. */
import './apply.property.test.ts';
