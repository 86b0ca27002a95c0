/** The filters of a list and its pages. The address holds them, so that a view can be kept, sent and gone back to. */
import type { Child } from 'hono/jsx';
import type { Policy } from '../../policy/policy.ts';
import { Empty } from './empty.tsx';
import { Icon } from './icon.tsx';
import { number } from './progress.tsx';
import { Unfold } from './table.tsx';

export interface Filter {
  /** The parameter of the address. */
  name: string;
  label: string;
  value: string | undefined;
  /** The values to choose from; a field for any text without them. */
  options?: readonly string[];
  /** Values that a field for text suggests. */
  suggestions?: readonly string[];
  placeholder?: string;
  /** It is chosen in the top bar: it has a chip here and no field. */
  inTopBar?: true;
}

/** The account that a page shows alone. */
export const accountFilter = (value: string | undefined): Filter => ({
  name: 'account',
  label: 'Account',
  value,
  inTopBar: true,
});

/** What the field for a policy suggests. */
export const policyNames = (policies: readonly Policy[], account: string | undefined): string[] =>
  policies.filter((one) => account === undefined || one.account === account).map(({ name }) => name);

interface FilterBarProps {
  path: string;
  filters: readonly Filter[];
  /** Other parameters that are kept, such as the sorting. */
  keep?: Readonly<Record<string, string | undefined>>;
  /** What stands at the right: the number of what was found, a link to a file. */
  children?: Child;
}

/** Fields, a button, and a chip for each filter that is set: it leads to the list without that filter. */
export const FilterBar = ({ path, filters, keep = {}, children }: FilterBarProps) => {
  const all = { ...keep, ...Object.fromEntries(filters.map(({ name, value }) => [name, value])) };
  const set = filters.filter(({ value }) => value);
  return (
    <>
      <Unfold id="all-filters">Filters</Unfold>
      {/* After Back, a browser would show what was chosen last, not what the list is filtered by. */}
      <form class="filters" method="get" action={path} autocomplete="off">
        {filters.map((filter) =>
          filter.inTopBar ? (
            filter.value && <input type="hidden" name={filter.name} value={filter.value} />
          ) : (
            <Field filter={filter} />
          ),
        )}
        {Object.entries(keep).map(
          ([name, value]) => value && <input type="hidden" name={name} value={value} />,
        )}
        <button type="submit">Filter</button>
        {children && <span class="count">{children}</span>}
      </form>
      {set.length > 0 && (
        <nav class="filters" aria-label="Active filters">
          {set.map(({ name, label, value }) => (
            <a
              class="chip set"
              href={pathWith(path, { ...all, [name]: undefined })}
              title={`${label}: ${value}`}
            >
              <span class="of">
                {label}: {value}
              </span>
              <Icon name="x" />
              <span class="unseen">remove this filter</span>
            </a>
          ))}
          {set.length > 1 && (
            <a class="chip" href={pathWith(path, keep)}>
              Clear all
            </a>
          )}
        </nav>
      )}
    </>
  );
};

const Field = ({
  filter: { name, label, value = '', options, suggestions, placeholder = 'any' },
}: {
  filter: Filter;
}) => (
  <label for={`filter-${name}`}>
    {label}
    {options ? (
      <select id={`filter-${name}`} name={name} autocomplete="off">
        <option value="">{placeholder}</option>
        {options.map((one) => (
          <option value={one} selected={one === value}>
            {one}
          </option>
        ))}
      </select>
    ) : (
      <input
        id={`filter-${name}`}
        name={name}
        value={value}
        placeholder={placeholder}
        maxlength={200}
        autocomplete="off"
        {...(suggestions ? { list: `${name}-list` } : {})}
      />
    )}
    {suggestions && (
      <datalist id={`${name}-list`}>
        {suggestions.map((one) => (
          <option value={one} />
        ))}
      </datalist>
    )}
  </label>
);

/** An address with those parameters that have a value. */
export function pathWith(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(parameters).filter((one): one is [string, string] => Boolean(one[1]));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}

interface ListPageProps {
  /** What the list is of: `runs`. */
  of: string;
  path: string;
  /** The filters in the address. */
  given: Readonly<Record<string, string | undefined>>;
  /** The parameter of the address with the place in the list. */
  by?: string;
  /** The place in the list; undefined on the first page. */
  at: string | number | undefined;
  /** That of the next page; missing on the last one. */
  next?: string | number | undefined;
  /** As many were looked at as one page may cost, although the page is not full. */
  looked?: number | undefined;
  /** Whether the newest come first. */
  isByTime?: boolean;
}

const wordsOf = ({ isByTime }: Pick<ListPageProps, 'isByTime'>) =>
  isByTime ? { first: 'Newest', next: 'Older' } : { first: 'First page', next: 'Next' };

/** Where the list begins and continues; nothing for one that fits on a page. */
export const Pages = (props: ListPageProps) => {
  const { of, path, given, by = 'after', at, next, looked } = props;
  const words = wordsOf(props);
  return at === undefined && next === undefined ? null : (
    <nav class="pager" aria-label={`Pages of ${of}`}>
      {at !== undefined && <a href={pathWith(path, { ...given, [by]: undefined })}>{words.first}</a>}
      {next !== undefined && <a href={pathWith(path, { ...given, [by]: String(next) })}>{words.next}</a>}
      {looked !== undefined && (
        <span class="dim">
          These are what was found among {number(looked)} {of}.
        </span>
      )}
    </nav>
  );
};

/** In place of a page on which nothing is. `children`: what is said when nothing was looked for. */
export const NothingFound = ({ children, ...props }: ListPageProps & { children: Child }) => {
  const { of, path, given, at, looked } = props;
  if (looked !== undefined)
    return (
      <Empty icon="search" title={`None of these ${number(looked)} ${of} matches.`}>
        “{wordsOf(props).next}” continues the search.
      </Empty>
    );
  if (at !== undefined || Object.values(given).some(Boolean))
    return (
      <Empty icon="search" title={`No ${of.replace(/s$/, '')} matches.`}>
        <a href={path}>Show all {of}</a>
      </Empty>
    );
  return <>{children}</>;
};
