/** The source of each program of dist/, by its name there. */
export const PROGRAMS: Record<string, string>
/** The packages that programs load from node_modules. All others are bundled. */
export const EXTERNAL_PACKAGES: string[]
/** Optional packages that are not installed. */
export const ABSENT_PACKAGES: string[]
/** Defines the variables that CommonJS packages need in an ES module. */
export const COMMONJS: string
/** Bundles each program and its packages into one file of dist/. Throws when the source of a program does not exist. */
export function build(): Promise<void>
