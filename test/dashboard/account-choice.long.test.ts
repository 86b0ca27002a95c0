/** Those of `account-choice.test.ts` that need a browser. */
import './account-choice.test.ts';
