/** The same objects as by require(): one library, one CoveError, whichever way a program imports it. */
export * from "./index.js";
