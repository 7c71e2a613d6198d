import { query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { insertWatchedMonitors } from '../../support/board.ts'
import { insertMonitor } from '../../support/verdict.ts'
import { waitFor } from '../../support/wait.ts'
import { createTab, type Tab } from '../drivers/tab.ts'
import { type Flows, findAccessibilityProblems, OWNER, type Scene } from '../scene.ts'

const WORKER = 'worker@example.com'

/** The number of monitors for which a condition holds in the database. */
async function count({ db }: Scene, condition: string): Promise<number> {
  const own = "(name LIKE 'Service %' OR name LIKE 'Till %')"
  const sql = `SELECT count(*)::integer AS count FROM monitors WHERE ${own} AND ${condition}`
  const rows = await query<{ count: number }>(db, sql)
  return rows[0]!.count
}

/** Moves the focus forward until it is at the control, and checks that it can be seen there. */
async function tabTo(tab: Tab, name: string): Promise<void> {
  const focused = () => tab.read<string>('document.activeElement.textContent.replace(/\\s+/g, " ").trim()')
  const step = async () => {
    if ((await focused()) !== name) await tab.press('Tab')
    return (await focused()) === name
  }
  await waitFor(step, { label: `the focus at ${name}`, everyMs: 1 })
  const outline = await tab.read<string>('getComputedStyle(document.activeElement).outlineStyle')
  if (outline === 'none') throw new Error(`${name}: the focus is not visible`)
}

/** A change can be undone for 30 s, which a busy machine needs for the next step: the time of the page does not go on. */
const stopTime = (tab: Tab) => tab.read('void (Date.now = (now => () => now)(Date.now()))')

const undone = `![...document.querySelectorAll('button')].some(one => one.textContent === 'Undo')`

export const WORK_FLOWS: Flows = {
  async 'of 10,000 monitors, all that a filter matches are selected, changed, and changed back'(t, scene) {
    const { projectId } = await scene.createStranger(WORKER)
    // regions without a probe: the first checks of all of them at once would keep a machine of two cores busy
    const regions = ['us-west', 'eu-central', 'ap-northeast']
    await insertWatchedMonitors(scene.db, projectId, 10_000, { regions, intervalSeconds: 3_600 })
    for (const name of ['Till 1', 'Till 2', 'Till 3']) await insertMonitor(scene.db, projectId, { name, regions })
    const { tab } = scene
    await scene.signIn(WORKER, '/monitors')
    await stopTime(tab)
    await tab.fill('Filter', 'tag:team-3 -is:down')
    await tab.waitForPath('/monitors?q=tag:team-3+-is:down')
    const matching = await count(scene, `'team-3' = ANY (tags) AND status <> 'down'`)
    t.ok(matching > 400)
    // the rows follow the address
    const isFiltered = '[...document.querySelectorAll("tr[data-id]")].every(row => /Up.*team-3/.test(row.textContent))'
    await tab.waitUntil(`${isFiltered} && /\\b${matching}\\b/.test(document.body.innerText)`)
    await tab.click('tr[data-id] input')
    await tab.click('button', `Select all ${matching} that match`)
    await tab.waitForElement('[role=status]', `${matching} monitors selected`)
    await tab.click('button', 'Pause')
    await tab.click('dialog button', `Pause ${matching} monitors`)
    await tab.waitForText(new RegExp(`\\b${matching} monitors changed`))
    t.equal(await count(scene, 'is_paused'), matching)
    await tab.click('button', 'Undo')
    await tab.waitUntil(undone)
    t.equal(await count(scene, 'is_paused'), 0)
  },

  async 'a person finds, pauses and resumes monitors, and opens one, with the keyboard alone'(t, scene) {
    const { tab, open } = scene
    await open('/')
    await stopTime(tab)
    await tab.press('Control+k')
    await tab.waitUntil(`document.activeElement.matches('dialog input')`)
    await tab.type('monitors')
    await tab.waitUntil(
      `/^Monitors\\s*Page/.test(document.querySelector('[role=option][aria-selected=true]').innerText)`,
    )
    t.same(await findAccessibilityProblems(tab), [], 'the palette')
    await tab.press('Enter')
    await tab.waitForPath('/monitors')
    await tab.waitUntil(`!document.querySelector('dialog') && document.querySelector('tr[data-id]')`)
    await tab.press('/')
    await tab.waitUntil(`document.activeElement.matches('input')`)
    await tab.type('till')
    await tab.waitForPath('/monitors?q=till')
    await tab.waitUntil(`document.querySelectorAll('tr[data-id]').length === 3`)
    await tab.press('Tab')
    await tab.press('j')
    t.equal(await tab.read('document.activeElement.textContent'), 'Till 1')
    for (const key of ['x', 'j', 'x']) await tab.press(key)
    await tab.waitForElement('[role=status]', '2 monitors selected')
    await tab.press('p')
    await tab.waitForText(/2 monitors change\./)
    await tabTo(tab, 'Pause 2 monitors')
    await tab.press('Enter')
    await tab.waitForText(/2 monitors changed\./)
    t.equal(await count(scene, 'is_paused'), 2)
    await tabTo(tab, 'Undo')
    await tab.press('Enter')
    await tab.waitUntil(undone)
    t.equal(await count(scene, 'is_paused'), 0)
    await tab.press('j')
    await tabTo(tab, 'Till 1')
    await tab.press('Enter')
    await tab.waitForPath(/^\/monitors\/[0-9a-f-]{36}$/)
    await tab.waitUntil(`document.querySelector('h1').textContent === 'Till 1'`)
  },

  async 'two tabs of a browser share one stream of events, which moves to the other tab when one closes'(t, scene) {
    const { tab, open, db, driver, picket } = scene
    const countStreams = async () => {
      const text = await (await fetch(`${picket.operator}/metrics`)).text()
      return Number(/^picket_event_streams (\d+)$/m.exec(text)?.[1])
    }
    const waitForLive = (one: Tab, times = 1) =>
      one.waitUntil(`performance.getEntriesByName('picket-live').length >= ${times}`)
    const second = createTab(await driver.openTab())
    await open('/monitors?q=till', second)
    await waitForLive(second)
    await open('/monitors?q=till')
    await waitForLive(tab)
    await waitFor(async () => (await countStreams()) === 1, { label: 'one stream' })
    await second.close()
    await waitForLive(tab, 2)
    await waitFor(async () => (await countStreams()) === 1, { label: 'one stream, of the other tab' })
    await tab.read('window.mark = 1')
    await db.raw(`UPDATE monitors SET status = 'down', status_changed_at = now() WHERE name = 'Till 1'`)
    await tab.waitForText(/Till 1 Down/)
    t.equal(await tab.read('window.mark'), 1)
    await scene.signIn(OWNER, '/')
  },
}
