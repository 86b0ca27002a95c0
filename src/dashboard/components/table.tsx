import type { Child } from 'hono/jsx';
import { Icon } from './icon.tsx';

/** A phone shows this many rows of a table, and the others on demand; of one that is a detail of its page, fewer. */
const PHONE_ROWS = { list: 20, detail: 8 };

/**
 * A button of a phone that shows what is folded away there: the rows of the table before it, or the fields of the form
 * after it (`client/styles/table.css`). It is a box with a label, which needs no script.
 */
export const Unfold = ({ id, kind, children }: { id: string; kind?: string; children: Child }) => (
  <p class={kind ? `unfold ${kind}` : 'unfold'}>
    <input type="checkbox" class="unseen" id={id} autocomplete="off" />
    <label class="action" for={id}>
      {children}
    </label>
  </p>
);

interface Head {
  head: string;
  /** The head on a phone, where that is shorter. */
  label?: string;
  /** Where the head leads to, and how the table is sorted by this column now. */
  sort?: { path: string; is?: 'ascending' | 'descending' | undefined };
}

/** A column of a table: its head, and its cell of each row. */
export interface Column<Row> extends Head {
  layout: string;
  cell(row: Row): Child;
}

/**
 * Makes the columns of a table. `layout` of one: its classes of `client/styles/table.css`. These are its width, `end`
 * for numbers and durations, and `wide-only` or the like for what is shown only where there is room. One column of each
 * table has no width and takes the rest.
 */
export type Columns<Row> = (
  column: (head: string | Head, layout: string, cell: (row: Row) => Child) => Column<Row>,
) => readonly Column<Row>[];

/** What a cell has of the layout: the heads have the widths. */
export const cellClass = ({ layout }: Pick<Column<never>, 'layout'>): string | undefined =>
  layout.replace(/\bw-\S+\s*/, '').trim() || undefined;

interface TableProps<Row> {
  /** The caption, for screen readers only. */
  name: string;
  columns: Columns<Row>;
  rows: readonly Row[];
  /** Unique among the rows of the page: live updates keep a row by it. */
  keyOf(row: Row): string;
  /** What the rows are, of a live list to which new ones are added at the top: `client/new-rows.ts`. */
  grows?: string;
  /** What it is on its page. Default `list`. */
  kind?: keyof typeof PHONE_ROWS;
  /** Rows of several lines. */
  tall?: boolean;
  /** Rows of another kind before or after the row. */
  before?(row: Row, previous: Row | undefined, columns: readonly Column<Row>[]): Child;
  after?(row: Row, columns: readonly Column<Row>[]): Child;
}

/**
 * A table of rows of one line. On a phone a row is a card: a cell has its head as `data-label`, and the first cell is
 * the head of the card.
 */
export const Table = <Row,>(props: TableProps<Row>) => {
  const { name, rows, keyOf, grows, tall, kind = 'list', before, after } = props;
  const columns = props.columns((head, layout, cell) => ({
    ...(typeof head === 'string' ? { head } : head),
    layout,
    cell,
  }));
  return (
    <>
      <table class={tall ? undefined : 'dense'} data-grows={grows}>
        <caption class="unseen">{name}</caption>
        <thead>
          <tr>
            {columns.map(({ head, layout, sort }) => (
              <th scope="col" class={layout || undefined} aria-sort={sort?.is}>
                {sort ? (
                  <a href={sort.path}>
                    {head}
                    {sort.is && <Icon name={sort.is === 'ascending' ? 'arrow-up' : 'arrow-down'} />}
                  </a>
                ) : (
                  head
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <>
              {before?.(row, rows[index - 1], columns)}
              <tr data-key={keyOf(row)}>
                {columns.map((one) => (
                  <td data-label={one.label ?? one.head} class={cellClass(one)}>
                    {one.cell(row)}
                  </td>
                ))}
              </tr>
              {after?.(row, columns)}
            </>
          ))}
        </tbody>
      </table>
      {rows.length > PHONE_ROWS[kind] && (
        <Unfold id={`all-${name.replace(/\W+/g, '-')}`} kind={kind}>
          Show all {rows.length}
        </Unfold>
      )}
    </>
  );
};

/** Content of a cell that ends in an ellipsis where it has no room; `whole` is shown on hover. `to`: where it leads to. */
export const Cut = ({
  whole,
  to,
  children = whole,
}: {
  whole: string;
  to?: string | undefined;
  children?: Child;
}) => (
  <span class="cut" title={whole}>
    {to === undefined ? children : <a href={to}>{children}</a>}
  </span>
);
