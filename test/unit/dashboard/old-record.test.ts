import { h } from 'preact'
import t from 'tap'
import { FrameProvider } from '../../../control-plane/dashboard/core/frame-context.ts'
import type { OperationError } from '../../../control-plane/dashboard/core/operations.ts'
import { ScreenContent } from '../../../control-plane/dashboard/parts/layout/screen-content.tsx'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'
import { buildMonitor } from '../../support/dashboard-answers.ts'
import { NOW } from '../../support/dashboard-fixtures.ts'
import { LOADED_SCREENS, renderScreen, toText } from '../../support/dashboard-screens.tsx'

const GONE: OperationError = { status: 404, code: 'not_found', message: 'monitor not found' }
const AWAY: OperationError = { status: 503, code: 'unavailable', message: 'temporarily unavailable' }
const SENTENCES = [
  [GONE, 'The data of this page are from 1 min ago : the record was deleted, or you have no access any more.'],
  [AWAY, 'The data of this page are from 1 min ago : temporarily unavailable.'],
] as const

t.test('Each page whose record cannot be read again says so, above everything that it shows', async t => {
  const screens = LOADED_SCREENS.filter(({ record }) => record !== undefined)
  t.ok(screens.length >= 14, `${screens.length} screens`)
  const value = { nowMs: NOW, timeZone: 'UTC' } as never
  for (const screen of screens) {
    const contentWith = (error: OperationError | null) => {
      const results = { [screen.record!]: { data: {}, atMs: NOW - 60_000, error } }
      const shown = {
        screen: { ...screen, Body: () => 'everything else' },
        results,
        board: { data: null, error: null },
      }
      return toText(renderHtml(h(FrameProvider, { value }, h(ScreenContent, shown as never))))
    }
    t.equal(contentWith(null), 'everything else', screen.path)
    for (const [error, sentence] of SENTENCES) t.equal(contentWith(error), `${sentence} everything else`, screen.path)
  }
})

t.test('A deleted monitor does not keep its status without a word', async t => {
  for (const [error, sentence] of SENTENCES) {
    const { html, title } = renderScreen(`/monitors/${buildMonitor().id}`, {
      isOld: true,
      errors: { readMonitor: error },
    })
    t.match(toText(html), sentence)
    t.match(toText(html), 'Up for 1 h 30 min')
    t.equal(toText(html).split('are from').length, 2, 'once')
    t.equal(title, 'Shop · Picket')
  }
})
