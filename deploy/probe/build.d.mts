/** Writes the executable and SHA256SUMS into a folder (default `dist/probe`), and answers the executable's path. */
export function buildProbe(folder?: string): Promise<string>
