/** The policies of a dashboard, and how somebody signs in to it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const PASSWORD = 'who opens the dashboard of a fleet';

export async function writePolicies(folder, texts) {
  await mkdir(join(folder, 'policies'), { recursive: true });
  await writeFile(join(folder, 'policies', 'fleet.yaml'), `policies:\n${texts.join('')}`);
}

/** Gives the cookie. */
export async function signIn(address) {
  const answer = await fetch(`${address}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: address, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ password: PASSWORD }),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0];
  if (!cookie) throw new Error(`Signing in was answered with HTTP ${answer.status}.`);
  return cookie;
}
