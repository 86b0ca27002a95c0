/** Inventories as files: JSON, or gzip of it. One item a line, so that two of them can be compared. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { isoTime } from '../../clock.ts';
import { isOperationId, type OperationId, operationOf } from '../../contract/operations.ts';
import { CaretakerError, fileFaultOf } from '../../errors.ts';
import { redact } from '../../secrets.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { checkReplaceable } from '../../yaml/replaceable.ts';
import type { Inventory, Recorded } from './inventory.ts';

/** A file cannot be written, or is no inventory that this release reads. */
export class InventoryError extends CaretakerError {
  readonly code = 'INVENTORY';
}

const VERSION = 1;

const Entry = z
  .object({
    operation: z.string(),
    params: z.record(z.string(), z.unknown()),
    items: z.optional(z.array(z.looseObject({}))),
    answer: z.optional(z.looseObject({})),
    refused: z.optional(z.object({ status: z.number(), code: z.optional(z.string()), message: z.string() })),
  })
  .refine(({ operation }) => isOperationId(operation) && operationOf(operation).method === 'GET');

const InventoryFile = z.object({
  caretaker_inventory: z.literal(VERSION),
  account: z.string(),
  base_url: z.string(),
  saved_at: z.iso.datetime(),
  service_time: z.iso.datetime(),
  entries: z.array(Entry),
});

/** @throws {InventoryError} when no file can be written there. */
export function checkWritable(file: string): void {
  try {
    checkReplaceable(file);
  } catch (error) {
    throw unwritable(file, error);
  }
}

const unwritable = (file: string, cause: unknown) =>
  new InventoryError(`${shortFile(file)} cannot be written: ${fileFaultOf(cause)}.`, { cause });

/**
 * Writes an inventory, without secrets, readable by this user alone. Replaces the file only when it is
 * complete. Returns its size in bytes.
 *
 * @throws {InventoryError}
 */
export function writeInventory(file: string, inventory: Inventory): number {
  const text = textOf(inventory);
  const bytes = file.endsWith('.gz') ? gzipSync(text) : Buffer.from(text);
  checkWritable(file);
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(unfinished, bytes, { mode: 0o600 });
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw unwritable(file, error);
  }
  return bytes.length;
}

function textOf({ account, baseUrl, savedAt, serviceAt, entries }: Inventory): string {
  const head = {
    caretaker_inventory: VERSION,
    account,
    base_url: redact(baseUrl),
    saved_at: isoTime(savedAt),
    service_time: isoTime(serviceAt),
  };
  const all = entries.map(lineOf).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)},\n"entries":[\n${all}\n]}\n`;
}

/** The redacted entry, its items one a line. */
function lineOf({ items, ...entry }: Recorded): string {
  const head = JSON.stringify(redact(entry));
  if (!items) return head;
  const lines = items.map((item) => JSON.stringify(redact(item)));
  return `${head.slice(0, -1)},"items":[\n${lines.join(',\n')}]}`;
}

/** @throws {InventoryError} */
export function readInventory(file: string): Inventory {
  const short = shortFile(file);
  let value: unknown;
  try {
    const bytes = readFileSync(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    value = JSON.parse((isGzip ? gunzipSync(bytes) : bytes).toString('utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : fileFaultOf(error);
    throw new InventoryError(`${short} cannot be read: ${why}.`, { cause: error });
  }
  const { caretaker_inventory: version } = (value ?? {}) as { caretaker_inventory?: unknown };
  if (typeof version === 'number' && version > VERSION)
    throw new InventoryError(`${short} was saved by a newer release of Caretaker (version ${version}).`);
  const read = InventoryFile.safeParse(value);
  if (!read.success)
    throw new InventoryError(`${short} is not an inventory: save one with "caretaker inventory save".`);
  const { account, base_url, saved_at, service_time, entries } = read.data;
  return {
    account,
    baseUrl: base_url,
    savedAt: Date.parse(saved_at),
    serviceAt: Date.parse(service_time),
    entries: entries.map((entry) => ({ ...entry, operation: entry.operation as OperationId }) as Recorded),
  };
}
