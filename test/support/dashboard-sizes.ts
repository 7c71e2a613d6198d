import { brotliCompressSync } from 'node:zlib'
import { makeDashboardAssets } from '../../tools/build/dashboard-assets.mjs'

/** In kB. `script`: what every page loads. `largest`: with what the screen with the most code loads later. */
export type DashboardSizes = { script: number; largest: number; style: number }

/** The largest sizes that are accepted, in kB. */
export const MAX_SIZES: DashboardSizes = { script: 60, largest: 150, style: 15 }

/** The sizes of the scripts and the style sheet of the dashboard, compressed with Brotli. */
export async function measureDashboardSizes(): Promise<DashboardSizes> {
  const { files, style, everywhere, later } = await makeDashboardAssets()
  const sum = (paths: string[]) =>
    paths.reduce((bytes, path) => bytes + brotliCompressSync(Buffer.from(files[path]!.base64, 'base64')).length, 0) /
    1_000
  const screens = later.map(paths => sum([...new Set([...everywhere, ...paths])]))
  return { script: sum(everywhere), largest: Math.max(...screens), style: sum([style]) }
}
