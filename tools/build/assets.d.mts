/** The text of control-plane/pages/templates/assets.ts, made of its sources. */
export function makeAssets(): Promise<string>
