/** With more runs. */
import './scope.test.ts';
