/**
 * Charts over time, drawn on the server. Screen readers get the same numbers as a table. Texts are HTML, since the
 * drawing is stretched to the width of the page.
 */
import type { Child } from 'hono/jsx';
import { Sentence } from './time.tsx';

const HEIGHT = 100;

/** Tones of things that have no status, such as policies: in this order. */
export const seriesTones = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const;

/** One of the things that a stacked bar counts. Its class `is-<word>` gives the colour. */
export interface Series {
  /** The class without `is-`. */
  tone: string;
  word: string;
}

export interface Column {
  /** What the bar is about, for the table and on hover. A time such as `2026-11-23 02:00Z` is shown in the reader's zone. */
  label: string;
  /** One count for each series. */
  counts: readonly number[];
}

interface BarsProps {
  /** What the chart shows; the caption of its table. */
  name: string;
  series: readonly Series[];
  columns: readonly Column[];
  /** Three or so texts below the bars, from the left to the right. */
  axis: readonly Child[];
  /** What is counted: `targets`. */
  unit: string;
  /** How a value is written, when it is no count: then `unit` may be empty. */
  format?: (value: number) => string;
  /** The line that the bars should stay below. */
  limit?: Limit;
}

interface Limit {
  value: number;
  /** `limit`, for the label. */
  word: string;
}

const asCount = (value: number): string => value.toLocaleString('en-US');

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/** Bars of the same width, stacked by series. */
export function BarChart(props: BarsProps) {
  const { series, columns, limit } = props;
  const [highest = 0, next = 0] = columns.map(({ counts }) => sum(counts)).sort((a, b) => b - a);
  // One bar of another size would make all others a line at the bottom.
  const isCut = !limit && next > 0 && highest > CUT_FROM * next;
  const most = isCut ? 2 * next : mostOf(props);
  return (
    <StackedChart {...props} most={most} width={columns.length * 10} {...(isCut ? { cutAt: highest } : {})}>
      {columns.map((column, index) => (
        <g>
          <title>{titleOf(props, column)}</title>
          <Stack
            counts={column.counts}
            series={series}
            x={index * 10 + 1}
            most={Math.max(most, sum(column.counts))}
          />
          {sum(column.counts) > most && <rect class="cut-bar" x={index * 10} y="12" width="10" height="3" />}
          <rect class="hit" x={index * 10} y="0" width="10" height={HEIGHT} />
        </g>
      ))}
    </StackedChart>
  );
}

/** A bar that is so many times as high as the next one is drawn cut. */
const CUT_FROM = 4;

/** Areas over time, stacked by series, with what a bar chart has. */
export function StackedAreaChart(props: BarsProps) {
  const { series, columns } = props;
  const most = mostOf(props);
  const yOf = (value: number): number => Math.round((1 - value / most) * HEIGHT * 10) / 10;
  /** The upper edge of the areas up to a series. */
  const edge = (at: number): string[] =>
    columns.map(({ counts }, x) => `${x},${yOf(sum(counts.slice(0, at)))}`);
  return (
    <StackedChart {...props} most={most} width={Math.max(1, columns.length - 1)}>
      {series.map(({ tone }, at) =>
        columns.some(({ counts }) => (counts[at] ?? 0) > 0) ? (
          <polygon class={`part is-${tone}`} points={[...edge(at + 1), ...edge(at).reverse()].join(' ')} />
        ) : null,
      )}
      {columns.map((column, at) => (
        <rect class="hit" x={at - 0.5} y="0" width="1" height={HEIGHT}>
          <title>{titleOf(props, column)}</title>
        </rect>
      ))}
    </StackedChart>
  );
}

/** Values below this part of the limit have a scale of their own: they would be a line at the bottom. */
const TINY = 0.02;

/** The highest value of the drawing. */
function mostOf({ columns, limit }: BarsProps): number {
  const most = Math.max(0, ...columns.map(({ counts }) => sum(counts)));
  return Math.max(
    1,
    limit === undefined || (most > 0 && most < limit.value * TINY) ? most : Math.max(most, limit.value),
  );
}

const titleOf = ({ series, unit, format = asCount }: BarsProps, { label, counts }: Column): string =>
  `${label}: ${describe(series, counts, format) || `${format(0)} ${unit}`}`;

/** What is around the drawing of several series: legend, axis, limit, and the table for screen readers. */
const StackedChart = (
  props: BarsProps & { most: number; width: number; cutAt?: number; children: Child },
) => {
  const { name, series, columns, axis, unit, format = asCount, limit, most, width, cutAt, children } = props;
  const label = scaleLabel(format(most), limit, most, unit);
  return (
    <figure class="chart">
      <Legend series={present(series, columns)} />
      <Plot
        width={width}
        limit={limit}
        most={most}
        label={cutAt === undefined ? label : `${label}; the cut bar: ${format(cutAt)}`}
      >
        {children}
      </Plot>
      <Axis texts={axis} />
      <Figures name={name} heads={['Time', ...series.map(({ word }) => word)]}>
        {columns
          .filter(({ counts }) => sum(counts) > 0)
          .map(({ label, counts }) => (
            <tr>
              <th scope="row">
                <Sentence text={label} />
              </th>
              {counts.map((count) => (
                <td>{format(count)}</td>
              ))}
            </tr>
          ))}
      </Figures>
    </figure>
  );
};

const Plot = ({
  width,
  limit,
  most,
  label,
  children,
}: {
  width: number;
  limit: Limit | undefined;
  most: number;
  label: string;
  children: Child;
}) => (
  <div class="plot">
    <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {children}
      {limit && limit.value <= most && <LimitLine limit={limit} most={most} width={width} />}
    </svg>
    <span class="top-label" aria-hidden="true">
      {label}
    </span>
  </div>
);

const Axis = ({ texts }: { texts: readonly Child[] }) => (
  <div class="axis" aria-hidden="true">
    {texts.map((text) => (
      <span>{text}</span>
    ))}
  </div>
);

const LimitLine = ({ limit, most, width }: { limit: Limit; most: number; width: number }) => {
  const y = Math.round((1 - limit.value / most) * HEIGHT * 10) / 10;
  return <line class="limit" x1="0" x2={width} y1={y} y2={y} />;
};

/** What the top of the drawing stands for. */
const scaleLabel = (top: string, limit: Limit | undefined, most: number, unit: string): string =>
  limit === undefined
    ? `${top} ${unit}`
    : limit.value <= most
      ? `${limitLabel(limit)} ${unit}`
      : `${top} ${unit}; ${limitLabel(limit)}`;

const limitLabel = ({ value, word }: Limit): string => `${word}: ${value.toLocaleString('en-US')}`;

const Stack = ({
  counts,
  series,
  x,
  most,
}: {
  counts: readonly number[];
  series: readonly Series[];
  x: number;
  most: number;
}) => {
  let y = HEIGHT;
  return (
    <>
      {counts.map((count, at) => {
        if (count === 0) return null;
        // One of thousands can still be seen.
        const height = Math.max(1.5, (count / most) * HEIGHT);
        y -= height;
        return <rect class={`is-${series[at]?.tone}`} x={x} y={Math.max(0, y)} width="8" height={height} />;
      })}
    </>
  );
};

const describe = (
  series: readonly Series[],
  counts: readonly number[],
  format: (value: number) => string,
): string =>
  counts
    .map((count, at) => ({ count, word: series[at]?.word }))
    .filter(({ count }) => count > 0)
    .map(({ count, word }) => `${format(count)} ${word}`)
    .join(', ');

/** Those of the series that have something; all of an empty chart. */
const present = (series: readonly Series[], columns: readonly Column[]): readonly Series[] => {
  const found = series.filter((_, at) => columns.some(({ counts }) => (counts[at] ?? 0) > 0));
  return found.length === 0 ? series : found;
};

export const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul class="legend" aria-hidden="true">
    {series.map(({ tone, word }) => (
      <li>
        <svg viewBox="0 0 10 10" aria-hidden="true">
          <rect class={`is-${tone}`} width="10" height="10" rx="2" />
        </svg>
        {word}
      </li>
    ))}
  </ul>
);

const Figures = ({ name, heads, children }: { name: string; heads: readonly string[]; children: Child }) => (
  <div class="unseen">
    <table>
      <caption>{name}</caption>
      <thead>
        <tr>
          {heads.map((head) => (
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
