/** Bundles each program into one file of dist/. */
export function build(): Promise<void>
