import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('a request that changes nothing is no effect and starts no task', async () => {
  const { sandbox, get, post } = await startCalling({ sites: 2 });
  await post('/whitelabel/plugin-branding/reset');
  await post('/whitelabel/wp-login/update', { wp_login: { label: ' ' } });
  expect(sandbox.journal.effects).toEqual([]);
  expect((await get('/tasks?filters[type:eq]=settingop')).body.tasks).toEqual([]);
});

test('a change takes five seconds per site and is carried out at connected sites only', async () => {
  const { sandbox, clock, get, post } = await startCalling({ sites: 10 });
  sandbox.site('site-0003').disconnect();
  await post('/whitelabel/plugin-branding/update', { plugin_branding: { type: 'hidden' } });
  const task = async () => (await get('/tasks?filters[type:eq]=settingop')).body.tasks[0];
  expect((await task()).input.sites).toHaveLength(9);
  await clock.advance(47_000);
  expect((await task()).status).toBe('running');
  await clock.advance(1000);
  expect((await task()).status).toBe('completed');
  expect(sandbox.journal.effectsOf('updatePluginBranding')).toEqual(['plugin_branding']);
});

test('after a cancelled change, another one can start', async () => {
  const { get, post } = await startCalling({ sites: 2 });
  const label = (text: string) => post('/whitelabel/wp-login/update', { wp_login: { label: text } });
  await label('one');
  expect((await label('two')).body.error.code).toBe('setting_update_in_progress');
  const [task] = (await get('/tasks?filters[type:eq]=settingop')).body.tasks;
  await post(`/tasks/${task.id}/cancel`);
  expect((await label('two')).status).toBe(200);
});

test('custom branding needs a name, a login screen a sender email that is verified', async () => {
  const { post } = await startCalling({ sites: 1 });
  const plugin = await post('/whitelabel/plugin-branding/update', {
    plugin_branding: { type: 'custom', name: '' },
  });
  expect(plugin.body.error.code).toBe('plugin_name_missing');
  for (const [id, code] of [
    ['nobody', 'sender_email_not_found'],
    ['sender-0004', 'sender_email_not_verified'],
  ]) {
    const login = await post('/whitelabel/wp-login/update', { wp_login: { sender_email: { id } } });
    expect(login.body.error.code).toBe(code);
  }
});
