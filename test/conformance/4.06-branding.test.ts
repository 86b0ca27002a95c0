/** Section 4.6 and the branding rows of section 3. */
import { expect } from 'vitest';
import { casesOfFile, HOUR, type Tools } from './harness.ts';

const { conform, conformHeld } = casesOfFile('4.6 Branding');
const plugin = '/whitelabel/plugin-branding';
const login = '/whitelabel/wp-login';
const hidden = { plugin_branding: { type: 'hidden' } };
const custom = {
  plugin_branding: {
    type: 'custom',
    name: 'Our Care',
    description: 'Leader by us.',
    author: { name: 'Agency', url: 'https://agency.example' },
  },
};
const logo = 'data:image/png;base64,iVBORw0KGgo=';

/** Lets a change be carried out at all sites. */
async function carriedOut({ call, time }: Tools) {
  await time.pass(HOUR);
  const { body } = await call('GET', '/tasks?filters[type:eq]=settingop&perPage=1');
  expect(body.tasks[0].status).toBe('completed');
}

conform('showPluginBranding and showWpLogin answer 200', async ({ call }) => {
  expect((await call('GET', plugin)).status).toBe(200);
  expect((await call('GET', login)).status).toBe(200);
});

conform('updates need a body in its wrapper (400)', async ({ call }) => {
  for (const path of [plugin, login]) {
    expect((await call('POST', `${path}/update`)).status).toBe(400);
    expect((await call('POST', `${path}/update`, { label: 'x' })).status).toBe(400);
  }
});

conform('a type that is none is refused', async ({ call }) => {
  const { status } = await call('POST', `${plugin}/update`, { plugin_branding: { type: 'invisible' } });
  expect([400, 422]).toContain(status);
});

conformHeld('2.6 Plugin branding: hidden shows no name, description and author', async ({ call }) => {
  const { status, body } = await call('POST', `${plugin}/update`, hidden);
  expect([status, body.plugin_branding]).toEqual([
    200,
    { type: 'hidden', name: null, description: null, author: null },
  ]);
  expect((await call('GET', plugin)).body).toEqual(body);
});

conformHeld(
  '2.6 Plugin branding: custom shows the values that were saved; omitted ones stay',
  async (tools) => {
    const { call } = tools;
    expect((await call('POST', `${plugin}/update`, custom)).body).toEqual(custom);
    await carriedOut(tools);
    const renamed = { plugin_branding: { type: 'custom', name: 'Our Other Care' } };
    const { body } = await call('POST', `${plugin}/update`, renamed);
    expect(body.plugin_branding).toEqual({ ...custom.plugin_branding, name: 'Our Other Care' });
    expect((await call('GET', plugin)).body).toEqual(body);
  },
);

conformHeld(
  "3 Plugin branding: by default, and after a reset, it is the account's details",
  async (tools) => {
    const before = (await tools.call('GET', plugin)).body;
    expect(before.plugin_branding).toEqual({
      type: 'default',
      name: expect.stringMatching(/./),
      description: expect.stringMatching(/./),
      author: { name: expect.stringMatching(/./), url: expect.stringMatching(/./) },
    });
    await tools.call('POST', `${plugin}/update`, custom);
    await carriedOut(tools);
    const { status, body } = await tools.call('POST', `${plugin}/reset`);
    expect([status, body]).toEqual([200, before]);
    expect((await tools.call('GET', plugin)).body).toEqual(before);
  },
);

const changes = [
  [`${plugin}/update`, hidden],
  [`${plugin}/reset`, undefined],
  [`${login}/update`, { wp_login: { label: 'Other' } }],
  [`${login}/reset`, undefined],
] as const;

for (const first of [plugin, login]) {
  conformHeld(`each change is a conflict (409) while ${first}/update is carried out`, async (tools) => {
    const body = first === plugin ? custom : { wp_login: { label: 'Ours' } };
    await tools.call('POST', `${first}/update`, body);
    const shown = async () => [(await tools.call('GET', plugin)).body, (await tools.call('GET', login)).body];
    const before = await shown();
    for (const [path, second] of changes) {
      expect([path, (await tools.call('POST', path, second)).status]).toEqual([path, 409]);
      expect(await shown()).toEqual(before);
    }
    for (const [path, second] of changes) {
      await carriedOut(tools);
      expect([path, (await tools.call('POST', path, second)).status]).toEqual([path, 200]);
    }
  });
}

for (const lacking of ['plugin_branding', 'wp_login'] as const) {
  conformHeld(
    `changes of ${lacking} need a plan that supports it (422)`,
    async ({ call }) => {
      const own = changes.filter(([path]) => path.startsWith(lacking === 'wp_login' ? login : plugin));
      for (const [path, body] of own)
        expect([path, (await call('POST', path, body)).status]).toEqual([path, 422]);
    },
    { planLacks: [lacking] },
  );
}

conformHeld(
  '3 Login branding: update makes it custom, omitted settings stay, null clears one',
  async (tools) => {
    const { call, need } = tools;
    const sender = await need('/sender-emails?filters[status:eq]=verified');
    const first = { logo_file: logo, label: 'Come in', sender_email: { id: sender.id } };
    const { status, body } = await call('POST', `${login}/update`, { wp_login: first });
    const shown = {
      type: 'custom',
      logo_file: logo,
      label: 'Come in',
      error_message: null,
      tooltip: null,
      sender_email: { id: sender.id, email: sender.email },
    };
    expect([status, body.wp_login]).toEqual([200, shown]);
    await carriedOut(tools);
    const next = { wp_login: { label: null, error_message: 'No.', tooltip: 'Ask us' } };
    const changed = (await call('POST', `${login}/update`, next)).body.wp_login;
    expect(changed).toEqual({ ...shown, label: null, error_message: 'No.', tooltip: 'Ask us' });
    expect((await call('GET', login)).body.wp_login).toEqual(changed);
  },
);

conformHeld('2.7 Login branding: it is default again when no setting is left', async (tools) => {
  await tools.call('POST', `${login}/update`, { wp_login: { label: 'Ours' } });
  await carriedOut(tools);
  const { body } = await tools.call('POST', `${login}/update`, { wp_login: { label: null } });
  expect(body.wp_login.type).toBe('default');
});

conformHeld('3 Login branding: by default, and after a reset, nothing is set', async (tools) => {
  const before = (await tools.call('GET', login)).body;
  expect(before.wp_login).toEqual({
    type: 'default',
    logo_file: null,
    label: null,
    error_message: null,
    tooltip: null,
    sender_email: null,
  });
  const all = { logo_file: logo, label: 'a', error_message: 'b', tooltip: 'c' };
  await tools.call('POST', `${login}/update`, { wp_login: all });
  await carriedOut(tools);
  const { status, body } = await tools.call('POST', `${login}/reset`);
  expect([status, body]).toEqual([200, before]);
});

conformHeld('2.7 Login branding: a logo is an inline base64 image', async ({ call }) => {
  const body = { wp_login: { logo_file: 'https://agency.example/logo.png' } };
  expect((await call('POST', `${login}/update`, body)).status).toBe(422);
});
