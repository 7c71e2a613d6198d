/** The text of control-plane/status-pages/assets.ts, made of its sources. */
export function makeAssets(): Promise<string>
