/**
 * The id of a process, under which it shows that it is running and holds leases: `host.4711.9f2c01ab-v2`. It
 * ends with the version of the records that the process works with, so that a newer process knows whom it
 * would disturb.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { RECORDS_VERSION } from './migrations.ts';

/** A new id for this process. */
export const processId = (): string =>
  `${hostname()}.${process.pid}.${randomBytes(4).toString('hex')}-v${RECORDS_VERSION}`;

/** The version of the records that a process works with; 0 when the id does not show it. */
export const versionOf = (id: string): number => Number(/-v(\d+)$/.exec(id)?.[1] ?? 0);

/** Where a process runs, in words: `process 4711 on web-1`. */
export function placeOf(id: string): string {
  const [, host, pid] = /^(.+)\.(\d+)\.[^.]+$/.exec(id) ?? [];
  return host === undefined ? id : `process ${pid} on ${host}`;
}
