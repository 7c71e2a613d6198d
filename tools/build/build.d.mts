/** The source of each program of dist/, by its name there. */
export const PROGRAMS: Record<string, string>
/** Bundles each program into one file of dist/. Throws when the source of a program does not exist. */
export function build(): Promise<void>
