/** The tests of `many-edits.test.ts` with 1,000 edits. */
import './many-edits.test.ts';
