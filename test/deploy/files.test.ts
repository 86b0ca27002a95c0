/** The systemd unit and the Kubernetes example, compared with what the daemon really needs. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDesk } from '../support/cli.ts';
import { hasProgram, outputOf } from './programs.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

describe.skipIf(!hasProgram('systemd-analyze', 'the systemd unit is not checked'))('systemd', () => {
  test('accepts the unit and finds it hardened', () => {
    const folder = join(root, 'deploy/systemd');
    const found = outputOf('systemd-analyze', ['verify', 'caretaker.service'], folder);
    // Newer than this systemd.
    expect(found.replace(/^.*Unknown key (name )?'Restart(Steps|MaxDelaySec)'.*\n?/gm, '')).toBe('');
    const security = ['security', '--offline=true', '--no-pager', 'caretaker.service'];
    const [, exposure = '10'] =
      /exposure level for caretaker.service: ([\d.]+)/.exec(outputOf('systemd-analyze', security, folder)) ??
      [];
    expect(Number(exposure)).toBeLessThan(2);
  });
});

test('the unit gives the daemon as much time to stop as the compose file, and starts again for ever unless the configuration is wrong', () => {
  const unit = read('deploy/systemd/caretaker.service');
  const compose = parse(read('docker-compose.yml'), { merge: true });
  expect(unit).toContain(`TimeoutStopSec=${compose.services.daemon.stop_grace_period}\n`);
  expect(unit).toContain('RestartPreventExitStatus=2\n');
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  expect(unit).toMatch(/^RestartMaxDelaySec=5min$/m);
});

interface Env {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}

test('the Kubernetes example starts a daemon that its probes find ready', async () => {
  const documents = parseAllDocuments(read('deploy/kubernetes/caretaker.yaml')).map((one) => one.toJS());
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind);
  const [deployment] = ofKind('Deployment');
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;

  // Whatever is referred to exists.
  const maps = Object.fromEntries(ofKind('ConfigMap').map(({ metadata, data }) => [metadata.name, data]));
  const claims = ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name);
  for (const { configMap, persistentVolumeClaim: claim } of pod.volumes) {
    if (configMap) expect(Object.keys(maps)).toContain(configMap.name);
    if (claim) expect(claims).toContain(claim.claimName);
  }
  // A pod that keeps the volume would block the next one, and a file that is mounted by itself never changes.
  expect(deployment.spec.strategy).toEqual({ type: 'Recreate' });
  for (const mount of container.volumeMounts) expect(mount).not.toHaveProperty('subPath');
  const volumes = pod.volumes.map(({ name }: { name: string }) => name);
  for (const { name } of container.volumeMounts) expect(volumes).toContain(name);
  const [service] = ofKind('Service');
  expect(deployment.spec.template.metadata.labels).toMatchObject(service.spec.selector);
  expect(deployment.spec.selector.matchLabels).toEqual(service.spec.selector);
  const ports = container.ports.map(({ name }: { name: string }) => name);
  expect(ports).toEqual(service.spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort));
  const compose = parse(read('docker-compose.yml'), { merge: true });
  expect(`${pod.terminationGracePeriodSeconds}s`).toBe(compose.services.daemon.stop_grace_period);

  // The same files and variables, with values of this machine.
  const sandbox = await startSandbox({ sites: 1, rateLimit: 0, token: 't' });
  onTestFinished(() => sandbox.stop());
  const folder = mkdtempSync(join(tmpdir(), 'caretaker-pod-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const secrets: Record<string, string> = {
    'api-token': 't',
    'dashboard-password': 'open-sesame-please',
    'redis-url': 'embedded',
  };
  expect(read('deploy/kubernetes/caretaker.yaml').match(/(?<=--from-literal=)[\w-]+/g)).toEqual(
    Object.keys(secrets),
  );
  const project = join(folder, 'etc/caretaker');
  const config = join(project, 'config/caretaker.yaml');
  const values = {
    CARETAKER_CONFIG: config,
    CARETAKER_BASE_URL: sandbox.url,
    CARETAKER_DATA_DIR: join(folder, 'data'),
  };
  const given = container.env.find(({ name }: Env) => name === 'CARETAKER_CONFIG').value;
  expect(join(folder, given)).toBe(config);
  const env = Object.fromEntries(
    (container.env as Env[]).map(({ name, valueFrom }) => {
      const key = valueFrom?.secretKeyRef.key;
      return [name, (key === undefined ? values[name as keyof typeof values] : secrets[key]) ?? ''];
    }),
  );
  expect(Object.values(env)).not.toContain('');
  const folderOf = (volume: string) =>
    join(folder, container.volumeMounts.find(({ name }: { name: string }) => name === volume).mountPath);
  for (const volume of ['config', 'policies']) mkdirSync(folderOf(volume), { recursive: true });
  const settings = maps['caretaker']['caretaker.yaml'] as string;
  const [{ containerPort }] = container.ports;
  expect(parse(settings).dashboard.port).toBe(containerPort);
  writeFileSync(join(folderOf('config'), 'caretaker.yaml'), settings);
  for (const [file, text] of Object.entries(maps['caretaker-policies']))
    writeFileSync(join(folderOf('policies'), file), text as string);

  const desk = openDesk(env);
  onTestFinished(() => desk.clear());
  const validated = await desk.run(['validate'], {}, project);
  expect(validated).toMatchObject({ code: 0 });
  const daemon = desk.spawn([...container.args, '--port', '0'], {}, project);
  const [, port = ''] = /Dashboard: http:\/\/[^\s"]+:(\d+)/.exec(await daemon.line(/Dashboard: http/)) ?? [];
  await daemon.line(/the daemon is running/);
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { path, port: name } = container[probe].httpGet;
    expect(ports).toContain(name);
    expect({ probe, status: await probed(Number(port), path) }).toEqual({ probe, status: 200 });
  }
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

/** The status that a kubelet gets, which names the pod's address as the host. */
const probed = (port: number, path: string) =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host: '10.1.2.3:8480' } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });

interface Step {
  name?: string;
  uses?: string;
  run?: string;
}

test('the workflow is complete: pinned actions, scripts that exist, time limits, the oldest and a newer Node', () => {
  const { engines, scripts } = JSON.parse(read('package.json'));
  const { on, permissions, jobs } = parse(read('.github/workflows/test.yml'));
  expect(Object.keys(on)).toEqual(['push', 'pull_request']);
  expect(permissions).toEqual({ contents: 'read' });
  for (const job of Object.values<{ 'timeout-minutes': number; steps: Step[] }>(jobs)) {
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    for (const step of job.steps) {
      expect([step, Number('uses' in step) + Number('run' in step)]).toEqual([step, 1]);
      if (step.uses !== undefined) expect(step.uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      const [, script] = /^npm (?:run )?([\w:]+)/.exec(step.run ?? '') ?? [];
      if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    }
  }
  const { matrix } = jobs.test.strategy;
  expect(matrix.node[0]).toBe(/\d+\.\d+/.exec(engines.node)?.[0]);
  expect(Number(matrix.node[1])).toBeGreaterThan(20);
  expect(jobs.test.steps.map(({ run }: Step) => run)).toContain('npm test');
  for (const [, reference = ''] of JSON.stringify(jobs).matchAll(/\$\{\{ *([\w.]+) *\}\}/g))
    expect(['matrix.node', 'github.ref']).toContain(reference);
  expect(read('.ci/run')).toMatch(/^npm test\nexec npm run test:long$/m);
});
