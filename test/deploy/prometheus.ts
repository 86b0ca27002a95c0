/** A real Prometheus with the shipped scrape job, over a real daemon. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { started } from '../support/cli.ts';

export const deploy = resolve(import.meta.dirname, '../../deploy');
export const read = (file: string) => readFileSync(join(deploy, file), 'utf8');

/** The alert rules, in the order of their file. */
export const rules: { alert: string; expr: string }[] = parse(read('prometheus/alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: object[] }) => rules,
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** With the shipped scrape job; only address, interval and credentials are those of the test. */
export async function startPrometheus(folder: string, url: string, password: string, ruleFile: string) {
  const config = parse(read('prometheus/scrape.yaml'));
  const [job] = config.scrape_configs;
  Object.assign(job, { scrape_interval: '1s', static_configs: [{ targets: [new URL(url).host] }] });
  job.authorization.credentials_file = join(folder, 'token');
  writeFileSync(join(folder, 'token'), password);
  config.rule_files = [ruleFile];
  config.global = { evaluation_interval: '1s' };
  writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const port = await freePort();
  const program = started(
    spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    ),
  );
  onTestFinished(async () => {
    program.child.kill('SIGTERM');
    await program.ended;
  });
  await program.line(/Server is ready/);
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json();
  const ask = async (query: string): Promise<{ error?: string; found: number }> => {
    const { error, data } = (await get(`query?query=${encodeURIComponent(query)}`)) as {
      error?: string;
      data?: { result: unknown[] };
    };
    return { ...(error !== undefined && { error }), found: data?.result.length ?? 0 };
  };
  return {
    ask,
    async until(query: string) {
      while ((await ask(query)).found === 0) await sleep(200);
    },
    async firing(): Promise<string[]> {
      const { data } = (await get('alerts')) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] };
      };
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
  };
}
