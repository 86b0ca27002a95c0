/**
 * Reports what a policy selects, and changes nothing: each candidate that filters and `where` let through is a
 * finding. All of them are known when the plan is made, so that a check costs no request beyond its lists.
 */
import { z } from 'zod';
import { ExpressionError } from '../../src/expression/expression.ts';
import { NotShownError } from '../../src/expression/fields.ts';
import { compileTemplate, type Template } from '../../src/expression/template.ts';
import type { End } from '../../src/job/answer.ts';
import { type Identified, idOf, labelOf } from '../../src/job/candidates.ts';
import { defineJob, type Items, type OptionFault } from '../../src/job/job.ts';
import type { Source } from '../../src/job/source.ts';

const Options = z.strictObject({
  severity: z
    .enum(['error', 'warning', 'info'])
    .default('warning')
    .describe('How serious a finding is. With `error` its target counts as failed. Default warning.'),
  message: z
    .string()
    .min(1)
    .default('The policy selects it.')
    .describe(
      'What is reported about each finding; `{{ ... }}` holds a CEL expression over the candidate and `now`. Default: The policy selects it.',
    ),
});

const MAX_MESSAGE_LENGTH = 500;

export const check = defineJob({
  name: 'check',
  summary: 'Reports what a policy selects, and changes nothing.',
  reasons: { found: { text: 'The check found it; the message shows what.', found: true } },
  options: Options,
  check: ({ message }, { source }) => messageFaults(message, source),
  candidates: 'any',
  reportsSelection: true,
  comparesInfo: true,
  // It changes nothing, so that others may work on the site meanwhile.
  target: (item: Identified) => ({ id: idOf(item), label: labelOf(item), site: null }),
  requestsPerTarget: 0,
  changes: () => [],
  prepare: async ({ options, source }) => ({
    subject: source.subject,
    template: compileTemplate(options.message, source.variables),
  }),
  evaluate(_, { options: { severity }, prepared: { subject, template }, serviceNow }, items) {
    const message = messageFor(template, items, new Date(serviceNow));
    const is: End['is'] = severity === 'error' ? 'failed' : 'done';
    const findings = [{ severity, about: subject, message }];
    return { is: 'ended', end: { is, reason: 'found', detail: message, findings } };
  },

  async act() {
    throw new Error('A check knows the end of each target when the plan is made.');
  },
  async reconcile() {
    return { is: 'absent' };
  },
});

function messageFaults(message: string, { variables }: Source): OptionFault[] {
  try {
    compileTemplate(message, variables);
    return [];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message: fault, suggestion, offset = 0 } = error;
    return [{ path: ['message'], message: fault, suggestion, offset }];
  }
}

/** A value that is missing from the message does not make the finding less certain. */
function messageFor(template: Template, items: Items, now: Date): string {
  const text = template.of(items, now, (error) =>
    error instanceof NotShownError ? '(not shown)' : '(no value)',
  );
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : text;
}
