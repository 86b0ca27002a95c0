/** Turns traces on, if the variables of OpenTelemetry ask for them. Otherwise nothing of it is loaded. */
import { messageOf } from '../errors.ts';
import { keepSecret } from '../secrets.ts';
import { environmentOf } from '../settings/environment.ts';
import { projectOf } from '../settings/load-settings.ts';
import type { Settings } from '../settings/settings.ts';
import type { Traces } from '../trace/traces.ts';
import { headerSecrets, tracesWanted } from '../trace/variables.ts';
import type { OpenRecords } from './open-records.ts';
import { version } from './version.ts';

/** The opened records; with traces, they and the log take part in them. */
export interface Traced {
  opened: OpenRecords;
  traces?: Traces;
}

/**
 * Opens the traces of this process. What prevents them is logged, and prevents nothing else. The variables may also
 * be in `.env`; the SDK finds those in the environment of the process.
 */
export async function withTraces(opened: OpenRecords, { file }: Pick<Settings, 'file'>): Promise<Traced> {
  const { records, owner, log } = opened;
  const env = file === undefined ? process.env : environmentOf(projectOf(file), process.env);
  const wanted = tracesWanted(env);
  if (wanted.is === 'off') return { opened };
  if (wanted.is === 'unsupported') {
    log.warn(`there are no traces: ${wanted.why}`);
    return { opened };
  }
  for (const [name, value] of Object.entries(env)) if (name.startsWith('OTEL_')) process.env[name] ??= value;
  for (const secret of headerSecrets(env)) keepSecret(secret);
  try {
    const [{ openTraces }, { tracedLog }, { tracedRecords }] = await Promise.all([
      import('../trace/open-traces.ts'),
      import('../trace/traced-records.ts'),
      import('../trace/traced-records.ts'),
    ]);
    const installation = () => records.generation.remembered.id;
    const traces = await openTraces({
      protocol: wanted.protocol,
      env,
      installation,
      instance: owner,
      version,
      log,
    });
    log.info({ receiver: wanted.receiver }, 'runs are traced');
    return {
      opened: { ...opened, records: tracedRecords(records, traces), log: tracedLog(log, traces) },
      traces,
    };
  } catch (error) {
    log.warn({ err: error }, `there are no traces: ${messageOf(error)}`);
    return { opened };
  }
}
