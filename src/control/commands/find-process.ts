import { z } from 'zod';
import { findActiveProcess } from '../active-process.ts';
import { defineCommand } from '../command.ts';
import { runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export const findProcess = defineCommand()({
  name: 'runs.process',
  summary: 'Shows which process works on the runs of an account, by one of them.',
  role: 'viewer',
  reads: true,
  path: '/runs/{run}/process',
  input: z.strictObject({ run: runId }),
  subject: subjectOfRun,
  carryOut: async ({ run }, deps) => findActiveProcess(deps, (await runOf(deps, run)).account),
  answer: z.object({
    process: z.string().nullable().describe('In words, with its machine; null when none works on it.'),
  }),
  toAnswer: (process) => ({ process: process ?? null }),
});
