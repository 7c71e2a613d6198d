/** Fills a folder (default `dist/probe`) as install-probe.sh expects it. Returns the path of the executable. */
export function buildProbe(folder?: string): Promise<string>
