/** Fills a folder (default `dist/probe`) as install-probe.sh expects it, and answers the executable's path. */
export function buildProbe(folder?: string): Promise<string>
