/** Those of `board.test.ts` that need a browser. */
import './board.test.ts';
