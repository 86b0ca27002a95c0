/** All cases of `ledger.test.ts`. */
import './ledger.test.ts';
