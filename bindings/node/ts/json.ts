/** The reports that the library gives as JSON, with names as JavaScript has them. */

function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [camel(name), renamed(item)]));
}

/** A document whose keys are all the library's own. */
export function report<T>(json: Buffer): T {
  return renamed(JSON.parse(json.toString("utf8"))) as T;
}
