import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DASHBOARD_LOOKS, DASHBOARD_PICTURES, namePicture, PICTURED_SCENES } from '../../support/dashboard-pictures.ts'

/** To take them again: `PICKET_WRITE_FIXTURES=1 npm test -- test/long/dashboard-pictures.test.ts`. */
t.test('Every screen has small pictures, with which "npm run test:long" compares it', async t => {
  t.ok(PICTURED_SCENES.length >= 11)
  for (const scene of PICTURED_SCENES) {
    for (const { name } of DASHBOARD_LOOKS) {
      const path = join(DASHBOARD_PICTURES, namePicture(scene, name))
      const size = existsSync(path) ? statSync(path).size : 0
      t.ok(size > 2_000 && size <= 30_720, `${namePicture(scene, name)} is ${size} bytes`)
    }
  }
})
