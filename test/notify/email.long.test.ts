/** With a mail server that says nothing. */
import './email.test.ts';
