/** Reads and writes files with saved plans. */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseSavedPlan, type SavedPlan } from '../engine/plan/saved-plan.ts';
import { fileFaultOf } from '../errors.ts';
import { shortFile } from '../yaml/diagnostic.ts';
import { checkReplaceable } from '../yaml/replaceable.ts';
import { UsageError } from './exit.ts';

/** @throws {UsageError} when the file cannot be read. {SavedPlanError} when it is no saved plan, or was changed. */
export function readSavedPlan(file: string): SavedPlan {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`The plan ${shortFile(file)} cannot be read: ${fileFaultOf(error)}.`);
  }
  return parseSavedPlan(content, shortFile(file));
}

/** @throws {UsageError} when no plan can be saved there. */
export function checkPlanFile(file: string): void {
  try {
    checkReplaceable(file);
  } catch (error) {
    throw unsaved(file, error);
  }
}

const unsaved = (file: string, error: unknown) =>
  new UsageError(`The plan could not be saved as ${shortFile(file)}: ${fileFaultOf(error)}.`);

/**
 * Writes the file whole or not at all. Only its owner may read it, because it has names and addresses of clients.
 *
 * @throws {UsageError} when it cannot be written.
 */
export function writeSavedPlan(file: string, plan: SavedPlan): void {
  checkPlanFile(file);
  const part = `${file}.${randomUUID().slice(0, 8)}.part`;
  try {
    writeFileSync(part, `${JSON.stringify(plan, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw unsaved(file, error);
  }
}
