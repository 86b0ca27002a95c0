/** Those of `audit-page.test.ts` that need a browser. */
import './audit-page.test.ts';
