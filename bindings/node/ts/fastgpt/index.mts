/** The same objects as by require(). */
export * from "./index.js";
