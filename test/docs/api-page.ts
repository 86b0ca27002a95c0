/**
 * Generates the tables and sections of `docs/api.md` from `src/contract`: every resource and operation under its section
 * of the specification.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { sketchOf } from '../../src/cli/output/describe-operation.ts';
import type { Filter, List } from '../../src/contract/list.ts';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { type Operation, pathParameters } from '../../src/contract/operation.ts';
import { ActivityLogEntry } from '../../src/contract/operations/activity-logs.ts';
import { AutoUpdateHistoryEntry, AutoUpdateSchedule } from '../../src/contract/operations/auto-updates.ts';
import { BackupDestination } from '../../src/contract/operations/backup-destinations.ts';
import { PluginBranding, WpLogin } from '../../src/contract/operations/branding.ts';
import { Client } from '../../src/contract/operations/clients.ts';
import { CustomWork } from '../../src/contract/operations/custom-works.ts';
import { ManagedAccount } from '../../src/contract/operations/managed-accounts.ts';
import { Note, NoteVersion } from '../../src/contract/operations/notes.ts';
import { ReportTemplate, ReportTemplateDetails } from '../../src/contract/operations/report-templates.ts';
import { Report } from '../../src/contract/operations/reports.ts';
import { ScheduledReport, ScheduledReportDetails } from '../../src/contract/operations/scheduled-reports.ts';
import { SenderEmail } from '../../src/contract/operations/sender-emails.ts';
import {
  BatchError,
  BatchMeta,
  CountPair,
  PageMeta,
  TaskReference,
} from '../../src/contract/operations/shared.ts';
import { ReducedSite, Site, SiteDetails } from '../../src/contract/operations/sites.ts';
import { Snapshot, SnapshotDetails } from '../../src/contract/operations/snapshots.ts';
import { StagingSite, StagingSiteDetails } from '../../src/contract/operations/staging-sites.ts';
import { Tag } from '../../src/contract/operations/tags.ts';
import { Task, TaskDetails } from '../../src/contract/operations/tasks.ts';
import { TeamMember } from '../../src/contract/operations/team-members.ts';
import { type OperationId, operations, whyDestructive } from '../../src/contract/operations.ts';
import { bare, schemaUnder } from '../../src/contract/schema.ts';
import type { Field, FieldTree } from '../../src/expression/fields.ts';
import { fieldsOf } from '../../src/job/fields.ts';
import { withRows } from './table.ts';

/** A shape of the service, and the shape of its single view if that has more fields. */
interface Shape {
  name: string;
  list: z.ZodObject;
  single?: z.ZodObject;
}

const resources: Readonly<Record<string, { title: string; shapes: Shape[] }>> = {
  '2.1': {
    title: 'Shared shapes',
    shapes: [
      { name: 'Page', list: PageMeta },
      { name: 'Batch result', list: BatchMeta },
      { name: 'Batch error', list: BatchError },
      { name: 'Task reference', list: TaskReference },
      { name: 'Count pair', list: CountPair },
    ],
  },
  '2.2': { title: 'Client', shapes: [{ name: 'Client', list: Client }] },
  '2.3': { title: 'Managed account', shapes: [{ name: 'Managed account', list: ManagedAccount }] },
  '2.4': { title: 'Backup destination', shapes: [{ name: 'Backup destination', list: BackupDestination }] },
  '2.5': { title: 'Sender email', shapes: [{ name: 'Sender email', list: SenderEmail }] },
  '2.6': { title: 'Plugin branding', shapes: [{ name: 'Plugin branding', list: PluginBranding }] },
  '2.7': { title: 'Login-screen branding', shapes: [{ name: 'Login-screen branding', list: WpLogin }] },
  '2.8': {
    title: 'Auto update schedule',
    shapes: [{ name: 'Auto update schedule', list: AutoUpdateSchedule }],
  },
  '2.9': {
    title: 'Auto update history entry',
    shapes: [{ name: 'Auto update history entry', list: AutoUpdateHistoryEntry }],
  },
  '2.10': { title: 'Task', shapes: [{ name: 'Task', list: Task, single: TaskDetails }] },
  '2.11': { title: 'Report', shapes: [{ name: 'Report', list: Report }] },
  '2.12': {
    title: 'Report template',
    shapes: [{ name: 'Report template', list: ReportTemplate, single: ReportTemplateDetails }],
  },
  '2.13': {
    title: 'Scheduled report',
    shapes: [{ name: 'Scheduled report', list: ScheduledReport, single: ScheduledReportDetails }],
  },
  '2.14': { title: 'Team member', shapes: [{ name: 'Team member', list: TeamMember }] },
  '2.15': { title: 'Tag', shapes: [{ name: 'Tag', list: Tag }] },
  '2.16': {
    title: 'Staging site',
    shapes: [{ name: 'Staging site', list: StagingSite, single: StagingSiteDetails }],
  },
  '2.17': {
    title: 'Site',
    shapes: [
      { name: 'Site', list: Site, single: SiteDetails },
      { name: 'Reduced site', list: ReducedSite },
    ],
  },
  '2.18': { title: 'Custom work entry', shapes: [{ name: 'Custom work entry', list: CustomWork }] },
  '2.19': {
    title: 'Note and note version',
    shapes: [
      { name: 'Note', list: Note },
      { name: 'Note version', list: NoteVersion },
    ],
  },
  '2.20': { title: 'Activity log entry', shapes: [{ name: 'Activity log entry', list: ActivityLogEntry }] },
  '2.21': { title: 'Snapshot', shapes: [{ name: 'Snapshot', list: Snapshot, single: SnapshotDetails }] },
};

const sections: Readonly<Record<string, string>> = {
  '4.2': 'Clients',
  '4.3': 'Managed accounts',
  '4.4': 'Backup destinations',
  '4.5': 'Sender emails',
  '4.6': 'Branding',
  '4.7': 'Auto update schedules and history',
  '4.8': 'Tasks',
  '4.9': 'Reports',
  '4.10': 'Report templates',
  '4.11': 'Scheduled reports',
  '4.12': 'Team members',
  '4.13': 'Tags',
  '4.14': 'Staging sites',
  '4.15': 'Sites',
  '4.16': 'Custom works of a site',
  '4.17': 'Notes of a site',
  '4.18': 'Activity logs of a site',
  '4.19': 'Snapshots of a site',
  '4.20': 'Backup download, upload and migration',
};

const code = (text: string): string => `\`${text}\``;
const codes = (names: readonly string[]): string => names.map(code).join(', ');
const anchor = (section: string): string => `<a id="${section}"></a>`;
const heading = (section: string, title: string): string => `${anchor(section)}\n\n### ${section} ${title}`;

/** A link to the section of the resource that a schema describes; undefined for a shape without a section. */
function linkTo(schema: z.core.$ZodType): string | undefined {
  for (const [section, { shapes }] of Object.entries(resources))
    for (const { name, list, single } of shapes)
      if (schema === list || schema === single) return `[${name.toLowerCase()}](#${section})`;
  return undefined;
}

function kindOf(field: Field): string {
  if (field.kind === 'string' && field.values) return codes(field.values);
  if (field.kind === 'list') return field.of.kind === 'object' ? 'list' : `list of ${kindOf(field.of)}`;
  return field.kind === 'map' ? `map of ${field.of.kind}` : field.kind;
}

interface Row {
  kind: string;
  notes: string[];
}

/** Every field with its path: `wp.core.locked`, `tags[].id`. */
function rowsOf(fields: FieldTree, lenient: z.core.$ZodType, at = ''): [string, Row][] {
  return Object.entries(fields).flatMap(([name, field]): [string, Row][] => {
    const path = `${at}${name}`;
    const schema = schemaUnder(lenient, name) ?? z.unknown();
    const notes = [
      ...(field.optional ? ['not in every answer'] : []),
      ...(field.nullable ? ['may be null'] : []),
      ...(schema instanceof z.ZodOptional ? [] : ['needed']),
    ];
    const suffix = { list: '[]', map: '.<name>' }[field.kind as string] ?? '';
    const below = rowsOf(fieldsBelow(field), insideOf(schema), `${path}${suffix}.`);
    return [[path, { kind: kindOf(field), notes }], ...below];
  });
}

function fieldsBelow(field: Field): FieldTree {
  const of = field.kind === 'list' || field.kind === 'map' ? field.of : field;
  return of.kind === 'object' ? of.fields : {};
}

/** The schema of the items of a list or map, else the schema itself. */
function insideOf(schema: z.core.$ZodType): z.core.$ZodType {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray) return bare(inner.element);
  return inner instanceof z.ZodRecord ? bare(inner.valueType) : inner;
}

function shapeText({ name, list, single = list }: Shape, isOnly: boolean): string {
  const [listed, alone] = [new Map(rowsOf(fieldsOf(list), list)), new Map(rowsOf(fieldsOf(single), single))];
  const lines = [...new Map([...listed, ...alone])].map(([path, { kind, notes }]) => {
    const view = listed.has(path) ? (alone.has(path) ? [] : ['list view only']) : ['single view only'];
    return `| ${code(path)} | ${kind} | ${[...view, ...notes].join(', ')} |`;
  });
  return [...(isOnly ? [] : [`**${name}**\n`]), '| field | type | notes |\n|---|---|---|', ...lines].join(
    '\n',
  );
}

const resourceText = ([section, { title, shapes }]: [string, { title: string; shapes: Shape[] }]): string =>
  [heading(section, title), ...shapes.map((shape) => shapeText(shape, shapes.length === 1))].join('\n\n');

const effects = {
  read: 'none: it only reads',
  repeatable: '`repeatable`: a second identical request changes nothing more',
  once: '`once`: a second request does it again, so a lost answer is [reconciled](reliability.md#every-change-one-by-one) first',
};

function operationText(id: OperationId, operation: Operation): string {
  const { method, path, summary, effect, success, errors, list, body, bodyRequired } = operation;
  const parameters = [
    ...pathParameters(path).map((name) => `${code(name)} (path)`),
    ...Object.entries(operation.query?.shape ?? {}).map(
      ([name, schema]) => `${code(name)} (query${schema instanceof z.ZodOptional ? ', optional' : ''})`,
    ),
    ...(list ? listParameters(list) : []),
  ];
  const why = whyDestructive(id);
  return [
    `#### ${id}\n`,
    `${summary} ${code(`${method} ${path}`)}\n`,
    `- Effect: ${effects[effect ?? 'read']}${why === undefined ? '' : `. **Destructive**: ${why}`}`,
    ...(parameters.length > 0 ? [`- Parameters: ${parameters.join(', ')}`] : []),
    ...(list ? filterLines(list.filters) : []),
    ...(list && list.sorts.length > 0
      ? [`- Sort: ${codes(list.sorts)}; default ${code(list.defaultSort ?? '')}`]
      : []),
    `- Success: ${success} ${answerText(operation)}`,
    `- Errors: ${errors.join(', ')}`,
    ...(body
      ? [
          `- Body, ${bodyRequired ? 'required' : 'optional'}:\n\n  \`\`\`text\n${indented(sketchOf(body))}\n  \`\`\``,
        ]
      : []),
  ].join('\n');
}

const indented = (text: string): string => text.replace(/^/gm, '  ');

const listParameters = ({ paged, timezone, sorts }: List): string[] => [
  ...(paged ? [code('page'), code('perPage')] : []),
  ...(timezone ? [code('timezone')] : []),
  ...(sorts.length > 0 ? [code('sort'), code('filters')] : []),
];

const filterLines = (filters: List['filters']): string[] =>
  Object.keys(filters).length === 0
    ? []
    : ['- Filters:', ...Object.entries(filters).map(([name, filter]) => `  - ${filterText(name, filter)}`)];

const filterText = (name: string, { kind, values, operators }: Filter): string =>
  `${code(name)} ${codes(operators)}: ${values ? codes(values) : kind}`;

function answerText({ answer, answers, success }: Operation): string {
  if (answers === 'pdf') return 'with a PDF';
  if (success === 204 || answer === undefined) return 'without a body';
  const whole = linkTo(answer);
  if (whole) return `with a ${whole}`;
  if (!(answer instanceof z.ZodObject)) return 'with a body';
  const parts = Object.entries(answer.shape).map(([name, schema]) => {
    const inner = bare(schema);
    const link = linkTo(insideOf(inner));
    return `${code(inner instanceof z.ZodArray ? `${name}[]` : name)}${link ? ` (${link})` : ''}`;
  });
  return `with ${parts.join(', ')}`;
}

const table = Object.entries(operations) as [OperationId, Operation][];
const idsOf = (section: string): OperationId[] =>
  table.filter(([, operation]) => operation.section === section).map(([id]) => id);
const operationLink = (id: OperationId): string => `[${id}](#${id.toLowerCase()})`;

const sectionText = ([section, title]: [string, string]): string =>
  [
    heading(section, title),
    ...idsOf(section).map((id) => operationText(id, operations[id] as Operation)),
  ].join('\n\n');

/** What each error status means, as `/openapi.json` has it. */
function statusRows(): string[] {
  const { responses } = openApiDocument('')['components'] as {
    responses: Record<string, { description: string }>;
  };
  return Object.entries(responses).map(([name, { description }]) => `| ${name.slice(5)} | ${description} |`);
}

/** The page with this text from one section up to another. */
function withSections(page: string, from: string, to: string, text: string): string {
  const [start, end] = [page.indexOf(`${anchor(from)}\n`), page.indexOf(`${anchor(to)}\n`)];
  if (start < 0 || end < start) throw new Error(`The page has no section ${from} before ${to}.`);
  return `${page.slice(0, start)}${text}\n\n${page.slice(end)}`;
}

/** The page with what is generated; it holds the text around that itself. */
export function apiPage(): string {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/api.md'), 'utf8');
  const counted = page.replace(/^All \d+ operations/m, `All ${table.length} operations`);
  const index = Object.entries(sections).map(
    ([section, title]) =>
      `| [${section} ${title}](#${section}) | ${idsOf(section).map(operationLink).join(', ')} |`,
  );
  const listed = withRows(withRows(counted, '| section |', index), '| status |', statusRows());
  const shapes = Object.entries(resources).map(resourceText).join('\n\n');
  const operationTexts = Object.entries(sections).map(sectionText).join('\n\n');
  return withSections(withSections(listed, '2.1', '3', shapes), '4.2', '5', operationTexts);
}
