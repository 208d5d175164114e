/** What the library and the addon give as JSON. */

function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The same document with names as JavaScript has them. */
export function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [camel(name), renamed(item)]));
}

/** A document whose keys are all the library's own. */
export function report<T>(json: Buffer): T {
  return renamed(JSON.parse(json.toString("utf8"))) as T;
}

/** Names that are no UTF-8 come in base64 beside their texts. */
const BYTES = ["pathBytes", "oldPathBytes", "linkTargetBytes", "textBytes"] as const;

type Item = Partial<Record<(typeof BYTES)[number], string | Buffer>> & { facts?: Item | null };

function withBytes(item: Item): void {
  for (const name of BYTES) {
    const encoded = item[name];
    if (typeof encoded === "string") item[name] = Buffer.from(encoded, "base64");
  }
  if (item.facts) withBytes(item.facts);
}

/** Items that come in great numbers, as the addon makes them. */
export function items<T>(json: string): T[] {
  const list = JSON.parse(json) as Item[];
  if (json.includes("Bytes\":")) list.forEach(withBytes);
  return list as T[];
}
