/** The editor of a status page in a slow browser: from a key to the preview, and the server's judgement of custom CSS. */
import type { Page } from 'playwright-core'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure, percentile, REGIONS } from './rig.ts'
import { seedMonitors, seedVerdicts } from './seed.ts'
import { openBenchBrowser, openSlowPage, signIn, until } from './slow-page.ts'

const COMPONENTS = 50
const KEYS = 60
const JUDGEMENTS = 20
/** A style sheet of 20 KiB. */
const CSS = Array.from({ length: 400 }, (_, i) => `.component:nth-child(${i}) { color: rgb(1, 2, ${i % 256}) }`).join(
  '\n',
)

export async function benchPageEditor(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const ids = await seedMonitors(picket.databaseUrl, COMPONENTS)
  await seedVerdicts(picket.databaseUrl, ids, REGIONS)
  const page = (await picket.api.post('/status-pages', { name: 'Status', slug: 'status' })).body.data
  for (const [i, id] of ids.entries())
    await picket.api.post(`/status-pages/${page.id}/components`, { name: `Service ${i}`, monitor_id: id })

  const judgedMs: number[] = []
  for (let i = 0; i < JUDGEMENTS; i++) {
    const startedMs = performance.now()
    const { status } = await picket.api.post(`/status-pages/${page.id}/preview`, { custom_css: `${CSS}\n/* ${i} */` })
    if (status !== 200) throw new Error(`the preview answered ${status}`)
    judgedMs.push(performance.now() - startedMs)
  }
  const origin = picket.origin.replace('127.0.0.1', 'localhost')
  const [context, editor] = await openSlowPage(await openBenchBrowser(t), await signIn(picket.databaseUrl))
  await editor.goto(`${origin}/pages/${page.id}`)
  const keysMs = await typeName(editor)
  await context.close()

  const [half, slow] = [percentile(keysMs, 0.5), percentile(keysMs, 0.95)]
  const judged = percentile(judgedMs, 0.95)
  return [
    figure(
      `a key in the name of a page of ${COMPONENTS} components until the preview has it (p50 / p95)`,
      `${half.toFixed(1)} / ${slow.toFixed(1)} ms`,
      'p95 ≤ 16 ms',
      slow <= 16,
    ),
    figure(
      `the server's judgement of ${Math.round(CSS.length / 1024)} KiB of CSS (p95 of ${JUDGEMENTS})`,
      `${judged.toFixed(0)} ms`,
      '≤ 300 ms',
      judged <= 300,
    ),
  ]
}

/** From the event of each key to the change of the document in the preview, in ms. */
async function typeName(page: Page): Promise<number[]> {
  await until(
    page,
    `document.querySelector('iframe')?.contentDocument?.querySelectorAll('.component').length === ${COMPONENTS}`,
  )
  const name = page.getByLabel('Name', { exact: true })
  await name.focus()
  const times: number[] = []
  for (let i = 0; i < KEYS; i++) {
    // before the key, without waiting for what follows it
    await page.evaluate(`void (window.shown = new Promise(done => {
      const frame = document.querySelector('iframe').contentDocument
      let startMs = 0
      document.activeElement.addEventListener('input', () => { startMs = performance.now() }, { once: true, capture: true })
      const seen = new MutationObserver(() => {
        if (startMs === 0) return
        seen.disconnect()
        done(performance.now() - startMs)
      })
      seen.observe(frame.body, { subtree: true, childList: true, characterData: true })
    }))`)
    await page.keyboard.type(String.fromCharCode(97 + (i % 26)))
    times.push(await page.evaluate<number>('window.shown'))
  }
  return times
}
