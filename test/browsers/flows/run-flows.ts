import type { Test } from 'tap'
import type { StartBrowser } from '../drivers/driver.ts'
import { createTab } from '../drivers/tab.ts'
import { expectNoMessages, findAccessibilityProblems, OWNER, startScene } from '../scene.ts'
import { FAULT_FLOWS } from './fault-flows.ts'
import { OUTAGE_FLOWS } from './outage-flows.ts'
import { SETUP_FLOWS } from './setup-flows.ts'
import { WORK_FLOWS } from './work-flows.ts'

/** All flows in one browser, one after the other. */
export async function runFlows(t: Test, name: string, start: (t: Test) => StartBrowser): Promise<void> {
  const scene = await startScene(t, start(t))
  for (const [title, flow] of Object.entries({ ...OUTAGE_FLOWS, ...SETUP_FLOWS, ...WORK_FLOWS, ...FAULT_FLOWS }))
    t.test(`${name}: ${title}`, async t => {
      try {
        await flow(t, scene)
      } catch (error) {
        t.comment(await scene.tab.read<string>('location.href + "\\n" + document.body.innerText').catch(String))
        t.comment(scene.picket.controlPlane.describe())
        // without the question of a form with changes
        await scene.driver.first.navigate('about:blank')
        throw error
      }
      await expectNoMessages(t, scene.driver, scene.tab)
    })
  t.test(`${name}: pages are dark when the system is`, async t => {
    const driver = await start(t)('dark')
    const tab = createTab(driver.first)
    await scene.signIn(OWNER, '/', tab)
    for (const path of ['/', '/monitors', '/incidents']) {
      await scene.open(path, tab)
      t.equal(await tab.read('getComputedStyle(document.documentElement).backgroundColor'), 'rgb(16, 18, 20)', path)
      t.same(await findAccessibilityProblems(tab), [], path)
    }
    await expectNoMessages(t, driver, tab)
  })
}
