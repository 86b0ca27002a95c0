/** `caretaker doctor` with a service that never responds, for as long as it waits. */
import { expect, test } from 'vitest';
import { openDesk } from '../support/cli.ts';
import { startFaultyService } from '../support/faulty-service.ts';

test('a service that never responds times out after ten seconds; the other checks are printed before', async () => {
  const service = await startFaultyService(() => undefined);
  const desk = openDesk({ CARETAKER_BASE_URL: service.url, CARETAKER_API_TOKEN: 't' });
  const { code, stdout } = await desk.run(['doctor']);
  expect(code).toBe(3);
  expect(stdout).toMatch(/^ok +Redis[\s\S]*^wrong +account "default": .*no answer within 10 s$/m);
  expect(service.requests).toHaveLength(1);
  await desk.clear();
  await service.stop();
});
