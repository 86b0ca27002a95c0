/** Labels of policies, as lists and commands name them: `team=shop`, or `team` for any value. */

export type Labels = Readonly<Record<string, string>>;

export const isLabelText = (text: string): boolean => /^[^\s=]+(=[^\s].*)?$/.test(text);

/** Whether all of these labels are there. */
export const hasLabels = (labels: Labels = {}, wanted: readonly string[] = []): boolean =>
  wanted.every((text) => {
    const [key = '', ...value] = text.split('=');
    return Object.hasOwn(labels, key) && (value.length === 0 || labels[key] === value.join('='));
  });

/** `team=shop`, in the order of their names. */
export const labelTexts = (labels: Labels = {}): string[] =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort();
