/** Those of `ended-form.test.ts` that need a browser. */
import './ended-form.test.ts';
