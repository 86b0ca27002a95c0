/** A value that several metrics need, read once for each scrape. */
export interface ReadOnce<Value> {
  get(): Promise<Value>;
  forget(): void;
}

export function readOnce<Value>(read: () => Promise<Value>): ReadOnce<Value> {
  let reading: Promise<Value> | undefined;
  return {
    get: () => {
      reading ??= read();
      return reading;
    },
    forget: () => {
      reading = undefined;
    },
  };
}
