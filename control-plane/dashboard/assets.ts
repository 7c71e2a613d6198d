/** The files that browsers load, by path. The name of each contains a hash of its content. */
type DashboardAssets = {
  files: Record<string, { contentType: string; base64: string }>
  /** the path of the first script; null without a build */
  script: string | null
  style: string | null
  /** of the wallboard */
  wallScript: string | null
  wallStyle: string | null
}

/** For programs that run from the sources: pages work without scripts and styles. */
const NO_ASSETS: DashboardAssets = { files: {}, script: null, style: null, wallScript: null, wallStyle: null }

/** The build replaces the value by the files that it makes of `control-plane/dashboard/browser` (tools/build/dashboard-assets.mjs). */
export const ASSETS: DashboardAssets = NO_ASSETS
