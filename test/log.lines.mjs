/**
 * `node log.lines.mjs <json|pretty> <level>` writes the lines that `log.test.ts` reads: a log goes to
 * standard error, so it needs a process of its own. Node 20 does not read TypeScript, so Vite does.
 */
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const vite = await createServer({
  configFile: false,
  root: fileURLToPath(new URL('..', import.meta.url)),
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { openLog } = await vite.ssrLoadModule('/src/log.ts');
const { keepSecret } = await vite.ssrLoadModule('/src/secrets.ts');

keepSecret('open-sesame');
const [form, level] = process.argv.slice(2);
const log = await openLog({ level, form });
log.debug('a detail');
log.info({ run: 'r-1', token: 'abc', nested: { password: 'abc' } }, 'a run began');
log.info('the word is open-sesame');
log.child({ account: 'agency', api_token: 'abc', where: 'redis://u:abc@host' }).warn('a child speaks');
const cause = Object.assign(new Error('connect open-sesame'), { code: 'ECONNREFUSED' });
log.error({ run: 'r-1', secret: 'abc', err: new TypeError('it broke', { cause }) }, 'a job failed');
log.error(new Error('nothing but open-sesame'));
const circle = new Error('round');
circle.cause = circle;
log.error({ err: circle }, 'an error that is its own cause');
log.info({ label: 'a\u001b[2Jb' }, 'said \u202eit\n{"level":60}');
log.error(new Error('\u001b[31mpassword=hunter2\nnext'));
await vite.close();
