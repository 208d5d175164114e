/** Arguments of the public layer, checked and turned into what the addon takes. */

import { constants } from "node:os";
import { types } from "node:util";

/** A path: a string, or its bytes where it is no UTF-8. */
export type PathLike = string | Uint8Array;

/** Content: bytes, or a string, which is written as UTF-8. */
export type Data = string | Uint8Array;

/** Of every call that can last. */
export interface CallOptions {
  /** Time limit of the whole call in milliseconds; none by default. Past it the error's code is TIMEOUT. */
  timeoutMs?: number;
  /** Calls the call off; the error's code is CANCELLED then, its `cause` the signal's reason. */
  signal?: AbortSignal;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value;
}

function withoutNul(name: string, value: string): string {
  if (value.includes("\0")) throw new RangeError(`${name} must not contain NUL`);
  return value;
}

export function string(name: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string, not ${typeName(value)}`);
  return value;
}

export function text(name: string, value: unknown): string {
  return withoutNul(name, string(name, value));
}

export function optionalText(name: string, value: unknown): string | undefined {
  return value === undefined ? undefined : text(name, value);
}

function bufferOf(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

export function path(name: string, value: unknown): string | Buffer {
  if (typeof value === "string") return withoutNul(name, value);
  if (!types.isUint8Array(value)) {
    throw new TypeError(`${name} must be a string or bytes, not ${typeName(value)}`);
  }
  if (value.includes(0)) throw new RangeError(`${name} must not contain NUL`);
  return bufferOf(value);
}

export function data(name: string, value: unknown): Buffer {
  if (typeof value === "string") return Buffer.from(value, "utf8");
  if (types.isUint8Array(value)) return bufferOf(value);
  if (types.isAnyArrayBuffer(value)) return Buffer.from(value);
  throw new TypeError(`${name} must be bytes or a string, not ${typeName(value)}`);
}

/** Whole milliseconds, at least 1; undefined = 0, which C reads as no limit, or its default. */
export function milliseconds(name: string, value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${typeName(value)}`);
  if (!(value > 0)) throw new RangeError(`${name} must be more than 0 milliseconds, not ${value}`);
  return Math.max(1, Math.floor(value));
}

export function count(name: string, value: unknown, low: number, high: number): number {
  if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${typeName(value)}`);
  if (!Number.isInteger(value) || value < low || value > high) {
    throw new RangeError(`${name} must be a whole number from ${low} to ${high}, not ${value}`);
  }
  return value;
}

/** A limit of at least 1; undefined = 0, which C reads as the default. */
export function optionalCount(name: string, value: unknown, high = Number.MAX_SAFE_INTEGER): number {
  return value === undefined ? 0 : count(name, value, 1, high);
}

/** A limit of kept bytes: undefined = the default (0 in C), 0 = nothing (the largest number in C). */
export function keptBytes(name: string, value: unknown): number {
  if (value === undefined) return 0;
  return count(name, value, 0, Number.MAX_SAFE_INTEGER) || Infinity;
}

/** A limit where Infinity = no limit. */
export function limit(name: string, value: unknown, standard: number): number {
  if (value === undefined) return standard;
  return value === Infinity ? Infinity : count(name, value, 1, Number.MAX_SAFE_INTEGER);
}

export function truth(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw new TypeError(`${name} must be true or false, not ${typeName(value)}`);
  return value;
}

/** The same, true by default. */
export function truthUnlessSaid(name: string, value: unknown): boolean {
  return value === undefined ? true : truth(name, value);
}

export function oneOf<T extends string>(name: string, value: unknown, words: readonly T[]): T {
  if (!words.includes(value as T)) {
    const shown = typeof value === "string" ? JSON.stringify(value) : typeName(value);
    throw new RangeError(`${name} must be ${words.map((word) => JSON.stringify(word)).join(" or ")}, not ${shown}`);
  }
  return value as T;
}

export function list(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list, not ${typeName(value)}`);
  return value;
}

/** `shape` = its members, for the message. */
export function object<T>(name: string, value: T, shape: string): NonNullable<T> {
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${name} must be ${shape}, not ${typeName(value)}`);
  }
  return value;
}

export function paths(name: string, value: unknown): (string | Buffer)[] {
  return list(name, value ?? []).map((item, i) => path(`${name}[${i}]`, item));
}

/** An environment as C takes it: "NAME=value". */
export function environment(value: unknown): string[] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`env must be an object as {NAME: "value"}, not ${typeName(value)}`);
  }
  return Object.entries(value)
    .filter(([, content]) => content !== undefined)
    .map(([name, content]) => {
      if (name === "" || name.includes("=")) {
        throw new RangeError(`env has a name that is empty or holds "=": ${JSON.stringify(name)}`);
      }
      return `${text("a name in env", name)}=${text(`env.${name}`, content)}`;
    });
}

/** A signal's number, or its name as "SIGTERM". */
export function signalNumber(value: unknown): number {
  if (typeof value !== "string") return count("signal", value, 1, 64);
  const number = (constants.signals as Record<string, number>)[value];
  if (number === undefined) throw new RangeError(`signal must be a number or a name as "SIGTERM", not "${value}"`);
  return number;
}

/** Milliseconds since 1970, of a Date or as they are. */
export function time(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = value instanceof Date ? value.getTime() : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    throw new TypeError(`${name} must be a Date or milliseconds since 1970`);
  }
  return number;
}

/**
 * The options of a call: {} where none are given. A name that it does not know is an error, since
 * what was meant by it would silently not happen.
 */
export function options<T extends object>(call: string, given: T | undefined, names: readonly string[]): Partial<T> {
  if (given === undefined) return {};
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`the options of ${call} must be an object, not ${typeName(given)}`);
  }
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw new TypeError(`${call} has no option "${name}"; it has ${names.join(", ")}`);
    }
  }
  return given;
}

/** What every call has. */
export const CALL: readonly string[] = ["timeoutMs", "signal"];
