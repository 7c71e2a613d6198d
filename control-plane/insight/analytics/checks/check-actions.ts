import type { Signer } from '../../../foundation/platform/crypto/signer.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { toCheckResultResponse } from '../../../monitoring/fleet/on-demand/check-result.ts'
import { buildScreenshotUrl } from '../../../monitoring/screenshots/signed-link.ts'
import { buildCheckKey, findScreenshotsOfChecks } from '../../../monitoring/screenshots/store.ts'
import { type ResultRow, toResult } from '../result-row.ts'

export type ScreenshotLinks = { db: Db; publicUrl: string; sign: Signer }

/** Checks of one monitor in the API. A screenshot is taken after its check, so its link is added when checks are read. */
export async function toCheckResponses(
  { db, publicUrl, sign }: ScreenshotLinks,
  projectId: string,
  monitorId: string,
  rows: readonly ResultRow[],
) {
  const checks = rows.map(row => ({ ...toResult(row), region: row.region }))
  const screenshots = await findScreenshotsOfChecks(db, projectId, monitorId, checks)
  return rows.map((row, i) => {
    const screenshotId = screenshots.get(buildCheckKey(checks[i]!))
    return {
      ...toCheckResultResponse(checks[i]!, row.region, row.probe_id),
      // values of data sources have no probe
      probe_id: row.probe_id === '' ? null : row.probe_id,
      screenshot_url:
        screenshotId === undefined ? null : buildScreenshotUrl(publicUrl, { id: screenshotId }, now(), sign),
    }
  })
}
