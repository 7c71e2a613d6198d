// takes about 60 s
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { computeDifference } from '../../control-plane/monitoring/screenshots/difference/page-difference.ts'
import { openBrowser } from '../browser/open-browser.ts'
import {
  DASHBOARD_LOOKS,
  DASHBOARD_PICTURES,
  decodePicture,
  namePicture,
  PICTURED_SCENES,
  takePicture,
} from '../support/dashboard-pictures.ts'
import { startDashboardSite } from '../support/dashboard-site.ts'

/**
 * The share of pixels that may differ. One browser makes the same picture every time, and a word that changes is 0.01 % of a
 * picture. After another release of the browser the pictures may have to be written again.
 */
const TOLERANCE = 0.00005
/** Where pictures that differ are kept. */
const DIFFERING = '.tap/pictures'

const site = await startDashboardSite(t)
const { newContext } = await openBrowser(t)

/**
 * After an intended change: `PICKET_WRITE_FIXTURES=1 npm test -- test/long/dashboard-pictures.test.ts`, and check every
 * picture that changed. The data, the time and the fonts are fixed.
 */
t.test('Every screen looks as in its pictures, on a desktop in light and on a phone in dark', async t => {
  const isWriting = process.env.PICKET_WRITE_FIXTURES === '1'
  const tab = await (await newContext()).newPage()
  for (const { name, size, scheme, width } of DASHBOARD_LOOKS) {
    const context = await newContext({ viewport: size, colorScheme: scheme, deviceScaleFactor: 2, timezoneId: 'UTC' })
    t.teardown(() => context.close())
    const page = await context.newPage()
    for (const scene of PICTURED_SCENES) {
      const file = namePicture(scene, name)
      await scene.open(page, site)
      const picture = await takePicture(page, width)
      const path = join(DASHBOARD_PICTURES, file)
      const difference = existsSync(path)
        ? computeDifference(await decodePicture(tab, readFileSync(path)), await decodePicture(tab, picture))
        : 1
      if (difference <= TOLERANCE) continue
      const folder = isWriting ? DASHBOARD_PICTURES : DIFFERING
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, file), picture)
      if (!isWriting) t.fail(`${file}: ${(difference * 100).toFixed(2)} % of the pixels differ; see ${DIFFERING}`)
    }
  }
})
