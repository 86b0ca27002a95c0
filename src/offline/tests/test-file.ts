/** `config/tests/*.yaml` as an operator writes them: one description for reading and `caretaker schema`. */
import { z } from 'zod';
import { pathParameters } from '../../contract/operation.ts';
import { type ListId, type OperationId, operationOf, operations } from '../../contract/operations.ts';
import { published, schemaUnder } from '../../contract/schema.ts';
import { listIds, listOfView } from '../inventory/inventory.ts';
import { type AccountView, accountViews } from './healthy-items.ts';

const at = z.iso.datetime({
  offset: true,
  error: 'must be a time with its zone, such as 2026-11-21T02:00:00Z',
});
const localTime = z
  .string()
  .regex(
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/,
    "must be a time such as 2026-11-21T02:00 (the policy's time zone) or 2026-11-21T01:00Z",
  );
const count = z.int().min(0);

/** The schema of an answer in which every field may be missing, and no other may be there. */
function partial(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return partial(schema.unwrap());
  if (schema instanceof z.ZodNullable) return z.nullable(partial(schema.unwrap()));
  if (schema instanceof z.ZodArray) return z.array(partial(schema.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), partial(schema.valueType));
  if (!(schema instanceof z.ZodObject)) return schema as z.ZodType;
  return z.strictObject(
    Object.fromEntries(
      Object.entries(schema.shape).map(([name, field]) => [name, z.optional(partial(field))]),
    ),
  );
}

/** An item with the fields of its list, and of its single view if it has one. */
function itemOf(list: ListId): z.ZodType {
  const { answer, list: declared } = operationOf(list);
  const items = answer && schemaUnder(published(answer), declared?.key ?? '');
  const listed = items instanceof z.ZodArray ? items.element : undefined;
  const view = (Object.keys(operations) as OperationId[]).find((id) => listOfView(id) === list);
  const shown = view && operationOf(view).answer;
  const alone = shown && Object.values((published(shown) as z.ZodObject).shape)[0];
  return partial(alone ? bothOf(listed, alone) : (listed ?? z.looseObject({})));
}

/** The fields of both, objects within them too. */
function bothOf(one: z.core.$ZodType | undefined, other: z.core.$ZodType): z.core.$ZodType {
  if (!(one instanceof z.ZodObject) || !(other instanceof z.ZodObject)) return other;
  const shared = Object.entries(one.shape).map(([name, field]) => {
    const same = other.shape[name];
    return [name, same ? bothOf(field, same) : field];
  });
  return z.strictObject({ ...other.shape, ...Object.fromEntries(shared) });
}

/** The lists that a test can give: of the account, or of its sites. */
const givable = listIds.filter((id) => pathParameters(operationOf(id).path).length <= 1);

const givenSchema = (list: ListId): z.ZodType => {
  const items = z.array(itemOf(list));
  const [parent] = pathParameters(operationOf(list).path);
  return parent === undefined
    ? items.describe(`The items that ${list} shows, in the order of creation.`)
    : z.record(z.string(), items).describe(`The items that ${list} shows, by ${parent}.`);
};

/** What the account has only one of. */
const viewSchema = (view: AccountView): z.ZodType => {
  const { answer } = operationOf(view);
  const [shown] = answer ? Object.values((published(answer) as z.ZodObject).shape) : [];
  return partial(shown ?? z.looseObject({})).describe(`What ${view} shows.`);
};

const Given = z
  .strictObject({
    ...Object.fromEntries(givable.map((list) => [list, z.optional(givenSchema(list))])),
    ...Object.fromEntries(accountViews.map((view) => [view, z.optional(viewSchema(view))])),
  })
  .describe('The lists of the account. Items may be partial: the rest is that of a healthy item.');

const changes = (Object.keys(operations) as OperationId[]).filter(
  (id) => operationOf(id).effect !== undefined,
) as [OperationId, ...OperationId[]];

const Request = z.strictObject({
  operation: z
    .enum(changes, { error: 'must be the name of an operation that changes something, such as syncSite' })
    .describe('The operation, by its name in the service.'),
  params: z.optional(z.record(z.string(), z.string())).describe('Its path parameters. Default any.'),
  body: z.optional(z.record(z.string(), z.unknown())).describe('The whole body. Default any.'),
});

const Recording = z.strictObject({
  site: z.string().describe('The id of the site.'),
  custom_work: z
    .optional(
      z.strictObject({
        title: z.optional(z.string()).describe('Its title. Default any.'),
        description: z.optional(z.string()).describe('Its description, without the reference. Default any.'),
        performed_on: z.optional(z.iso.date()).describe('Its day. Default any.'),
      }),
    )
    .describe('The custom work entry. Default any.'),
  note: z.optional(z.string()).describe("The run's line in the living note. Default any."),
});

const why = z.record(z.string(), z.string());

const Expect = z.strictObject({
  targets: z
    .optional(z.array(z.string()))
    .describe('All targets, by id or label; in this order if the policy has select.sort.'),
  excluded: z
    .optional(why)
    .describe('Candidates that are excluded, by id or label, each with a part of the reason.'),
  skipped: z
    .optional(why)
    .describe(
      'Targets that are skipped without a request, by id or label, with reason or a part of the detail.',
    ),
  ended: z.optional(why).describe('The same for any outcome that planning finds, such as already-done.'),
  requests: z
    .optional(z.array(Request))
    .describe('The changes that the targets request, in any order; with `steps`, those of all steps.'),
  recordings: z
    .optional(z.array(Recording))
    .describe('What is written to each site (`record:`), if every target ends as done.'),
  cost: z
    .optional(
      z.strictObject({
        requests: z.optional(count).describe('All requests of a run.'),
        planning: z.optional(count).describe('Those of planning.'),
        acting: z.optional(count).describe('Those of the changes.'),
        following: z.optional(count).describe('Those of following, as estimated.'),
      }),
    )
    .describe('Requests of a run, as plan estimates them.'),
  next: z
    .optional(z.array(localTime).min(1))
    .describe('The next scheduled times after `at`, in the time zone of the policy or with a zone.'),
  warnings: z.optional(z.array(z.string())).describe('A part of each warning of the plan; [] for none.'),
  stopped: z.optional(z.string()).describe('A part of the reason why a limit would stop the run.'),
});

export const PolicyTest = z
  .strictObject({
    name: z.string().min(1).describe('What the test shows, as a sentence.'),
    policy: z.string().describe('The name of the policy.'),
    at: z.optional(at).describe('The time of planning. Default with an inventory: when it was saved.'),
    given: z.optional(Given),
    inventory: z
      .optional(z.string())
      .describe('An inventory file instead of `given`, relative to the folder of this file.'),
    expect: Expect.describe('What the plan must show. What is not named here is not compared.'),
  })
  .refine(({ given, inventory }) => given === undefined || inventory === undefined, {
    path: ['inventory'],
    error: 'cannot stand beside "given"',
  })
  .refine(({ at, inventory }) => at !== undefined || inventory !== undefined, {
    path: ['at'],
    error: 'is missing: without an inventory, a test needs a time such as 2026-11-21T02:00:00Z',
  });
export type PolicyTest = z.output<typeof PolicyTest>;

const policies = z
  .optional(z.string())
  .describe(
    'A folder or file of policies that the tests are about, relative to the folder of this file. Default: the policies of the project.',
  );

export const TestFileOutline = z.strictObject({ policies, tests: z.array(z.unknown()) });
const TestFile = z.strictObject({ policies, tests: z.array(PolicyTest).describe('One or more tests.') });

/** The JSON Schema of `config/tests/*.yaml`, for editors. */
export const testFileJsonSchema = () => z.toJSONSchema(TestFile, { io: 'input', unrepresentable: 'any' });
