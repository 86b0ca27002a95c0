import type { Child } from 'hono/jsx';
import { Icon } from './icon.tsx';

export interface Column {
  head: string;
  /** A class of `client/styles/table.css`; one column of each table has none and takes the rest. */
  width?: string;
  /** Numbers and durations stand at the right. */
  end?: boolean;
  /** Where the head leads to, and how the table is sorted by this column now. */
  sort?: { path: string; is?: 'ascending' | 'descending' | undefined };
  /** Not shown below 1296 px. Its cells have the class `wide-only` too. */
  wideOnly?: boolean;
  /** The same below 992 px, with the class `middle-only`. */
  middleOnly?: boolean;
}

/**
 * A table of rows of one line. `name` is its caption, for screen readers only. Cells have a `data-label`, which is
 * their head on a phone, where a row is a card; the first cell is the head of the card.
 */
export const DataTable = ({
  name,
  columns,
  grows,
  children,
}: {
  name: string;
  columns: readonly Column[];
  /** What the rows are, of a live list to which new ones are added at the top: `client/new-rows.ts`. */
  grows?: string;
  children: Child;
}) => (
  <table class="dense" {...(grows === undefined ? {} : { 'data-grows': grows })}>
    <caption class="unseen">{name}</caption>
    <thead>
      <tr>
        {columns.map(({ head, width = '', end, sort, wideOnly, middleOnly }) => (
          <th
            scope="col"
            class={[width, end && 'end', wideOnly && 'wide-only', middleOnly && 'middle-only']
              .filter(Boolean)
              .join(' ')}
            {...(sort?.is ? { 'aria-sort': sort.is } : {})}
          >
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
    <tbody>{children}</tbody>
  </table>
);

/** Content of a cell that ends in an ellipsis where it has no room; `whole` is shown on hover. */
export const Cut = ({ whole, children }: { whole: string; children?: Child }) => (
  <span class="cut" title={whole}>
    {children ?? whole}
  </span>
);

/** A table whose rows may have several lines. Prefer `DataTable`. */
export const Table = ({
  name,
  heads,
  widths,
  children,
}: {
  name: string;
  heads: readonly string[];
  /** Fixed widths, one class a column, so that live updates move nothing. */
  widths: readonly string[];
  children: Child;
}) => (
  <table>
    <caption class="unseen">{name}</caption>
    <thead>
      <tr>
        {heads.map((head, index) => (
          <th scope="col" class={widths[index] ?? ''}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);
