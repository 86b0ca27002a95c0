/** Every address against every role. */
import './matrix.test.ts';
