/** What happens when: one lane for each thing, a block for each time. */
import type { Child } from 'hono/jsx';
import { useNow } from './contexts.tsx';

export interface Block {
  from: number;
  ms: number;
  /** On hover, and for screen readers. */
  text: string;
  /** The class without `is-` that gives the colour; the accent without it. */
  tone?: string;
  /** `point`: how long it takes is not known. `band`: many times together. `mark`: a line at a time. Default a block. */
  shape?: 'block' | 'point' | 'band' | 'mark';
}

export interface Lane {
  key: string;
  name: Child;
  /** The name as a text: where it has no room it is cut, and shown whole on hover. */
  whole: string;
  blocks: readonly Block[];
}

interface LanesProps {
  from: number;
  to: number;
  lanes: readonly Lane[];
  /** Five texts below: the ends and the quarters. */
  axis: readonly Child[];
}

const WIDTH = 1000;
/** The shortest block can still be seen and pointed at. */
const MIN_WIDTH = 5;

/** A line through all lanes stands at the present time. */
export const Lanes = ({ from, to, lanes, axis }: LanesProps) => {
  const now = useNow();
  const xOf = (at: number): number =>
    Math.max(0, Math.min(WIDTH, Math.round(((at - from) / (to - from)) * WIDTH)));
  return (
    <div class="lanes">
      {lanes.map(({ key, name, whole, blocks }) => (
        <>
          <div class="lane-name cut" data-key={key} title={whole}>
            {name}
          </div>
          <svg
            viewBox={`0 0 ${WIDTH} 24`}
            preserveAspectRatio="none"
            role="img"
            aria-label={blocks.map(({ text }) => text).join('; ')}
          >
            {now > from && now < to && <line class="now" x1={xOf(now)} x2={xOf(now)} y1="0" y2="24" />}
            {blocks.map((block) => (
              <Shape block={block} x={xOf(block.from)} end={xOf(block.from + block.ms)} />
            ))}
          </svg>
        </>
      ))}
      <div class="axis" aria-hidden="true">
        {axis.map((text) => (
          <span>{text}</span>
        ))}
      </div>
    </div>
  );
};

/** The drawing is stretched to the width of the page: only strokes keep their width. */
const Shape = ({
  block: { text, tone, shape = 'block' },
  x,
  end,
}: {
  block: Block;
  x: number;
  end: number;
}) => {
  const toned = tone ? `is-${tone}` : '';
  if (shape === 'point')
    return (
      <path class={`point ${toned}`} d={`M${Math.max(4, Math.min(x, WIDTH - 4))} 12h0.01`}>
        <title>{text}</title>
      </path>
    );
  if (shape === 'mark')
    return (
      <line class={`mark ${toned}`} x1={x} x2={x} y1="2" y2="22">
        <title>{text}</title>
      </line>
    );
  const left = Math.min(x, WIDTH - MIN_WIDTH);
  return (
    <rect
      class={shape === 'band' ? `band ${toned}` : toned}
      x={left}
      y={shape === 'band' ? '8' : '5'}
      width={Math.max(MIN_WIDTH, end - left)}
      height={shape === 'band' ? '8' : '14'}
      rx="2"
    >
      <title>{text}</title>
    </rect>
  );
};
