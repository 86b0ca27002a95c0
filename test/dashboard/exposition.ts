/** Reads Prometheus's text format strictly, like a scraper: what a scraper would reject throws here. */
export interface Family {
  name: string;
  type: string;
  help: string;
}

export interface Exposition {
  families: Map<string, Family>;
  text: string;
  /** The value of the only sample with this name and these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/;

export function readExposition(text: string): Exposition {
  const families = new Map<string, Family>();
  const samples = new Map<string, number>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`A second HELP of ${name}`);
      families.set(name, { name, type: '', help: rest });
    } else if (kind === 'TYPE') {
      const family = families.get(name);
      if (!family || family.type) throw new Error(`TYPE of ${name} is out of place`);
      family.type = rest;
    } else readSample(line, families, samples);
  }
  return { families, text, value: (name, labels = {}) => samples.get(keyOf(name, Object.entries(labels))) };
}

function readSample(line: string, families: Map<string, Family>, samples: Map<string, number>): void {
  const [, name = '', inside = '', number = ''] = SAMPLE.exec(line) ?? [];
  const family = name.replace(/_(bucket|sum|count)$/, '');
  if (!families.has(name) && !families.has(family)) throw new Error(`No HELP for: ${line}`);
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (number === '' || (Number.isNaN(value) && number !== 'NaN')) throw new Error(`No sample: ${line}`);
  const key = keyOf(name, labelsIn(inside));
  if (samples.has(key)) throw new Error(`Twice: ${line}`);
  samples.set(key, value);
}

function labelsIn(inside: string): [string, string][] {
  const labels: [string, string][] = [];
  let rest = inside;
  while (rest !== '') {
    const [whole, name = '', value = ''] = LABEL.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`Not a label: ${rest}`);
    labels.push([name, value]);
    rest = rest.slice(whole.length);
  }
  return labels;
}

const keyOf = (name: string, labels: [string, string][]): string =>
  `${name} ${labels
    .map(([label, value]) => `${label}=${value}`)
    .sort()
    .join()}`;
