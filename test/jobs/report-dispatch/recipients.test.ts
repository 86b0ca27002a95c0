/** What the service says about an address that it refuses. */
import { expect, test } from 'vitest';
import { readSent } from '../../../jobs/report-dispatch/recipients.ts';
import { readAnswer } from '../../../src/contract/answers.ts';

test.each([
  [{ email: 'Ben@Agency.example', code: 'suppressed', message: 'It bounced before.' }, 'It bounced before.'],
  [{ email: 'ben@agency.example', code: 'suppressed' }, 'suppressed'],
  [{ id: 'ben@agency.example', message: 'It bounced before.' }, 'It bounced before.'],
  [{ message: 'BEN@agency.example bounced before.' }, 'BEN@agency.example bounced before.'],
  [{ email: 'ada@agency.example', message: 'It bounced before.' }, 'it gave no reason.'],
])('an address that is refused with %j has the reason %s', (error, reason) => {
  const meta = { requested: 1, succeeded: 0, failed: 1 };
  const { value } = readAnswer('sendReportEmail', { send_email: { recipients: [], errors: [error] }, meta });

  expect(readSent(['ben@agency.example'], value.send_email)).toEqual({
    taken: [],
    refused: [`ben@agency.example: refused by the service: ${reason}`],
  });
});
