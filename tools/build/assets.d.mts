/** The text of control-plane/pages/templates/assets.ts, generated from its sources. */
export function makeAssets(): Promise<string>
