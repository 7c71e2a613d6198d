import t from 'tap'
import {
  EMPTY_SILENCE,
  readSilenceForm,
  type SilenceForm,
} from '../../../control-plane/dashboard/screens/suppression/silences/silence-form.ts'
import { buildCurrentVotes, buildList, buildMonitor } from '../../support/dashboard-answers.ts'
import { ago, VIEWER } from '../../support/dashboard-fixtures.ts'
import { renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const { id: ID } = buildMonitor()
const show = (path: string, state: ScreenState) => {
  const { html } = renderScreen(path, state)
  return { html, text: toText(html) }
}

type SilenceRow = [Partial<SilenceForm>, zone: string, { until: string; reason: string | null } | null | undefined]

t.test('The form becomes the end and the reason of a silence, with times of the zone of the person', t => {
  const now = Date.parse('2026-11-21T22:30:00Z')
  const rows: SilenceRow[] = [
    [{ length: '1h' }, 'UTC', { until: '2026-11-21T23:30', reason: null }],
    [{ length: '4h', reason: '  Move ' }, 'UTC', { until: '2026-11-22T02:30', reason: 'Move' }],
    [{ length: 'tomorrow' }, 'UTC', { until: '2026-11-22T08:00', reason: null }],
    // it is 22 November there
    [{ length: 'tomorrow' }, 'Asia/Tokyo', { until: '2026-11-22T23:00', reason: null }],
    [{ length: 'time', time: '2026-11-30T06:30' }, 'UTC', { until: '2026-11-30T06:30', reason: null }],
    [{ length: 'time', time: '2026-11-30T06:30' }, 'Asia/Tokyo', { until: '2026-11-29T21:30', reason: null }],
    [{ length: 'time', time: '' }, 'UTC', undefined],
    [{ length: 'end', reason: 'Move' }, 'UTC', null],
  ]
  for (const [part, zone, expected] of rows) {
    const found = readSilenceForm({ ...EMPTY_SILENCE, ...part }, now, zone)
    t.same(found, expected && { ...expected, until: `${expected.until}:00.000Z` }, `${JSON.stringify(part)} ${zone}`)
  }
  const beforeClocksChange = Date.parse('2026-10-24T20:00:00Z')
  t.match(readSilenceForm({ ...EMPTY_SILENCE, length: 'tomorrow' }, beforeClocksChange, 'Europe/Berlin'), {
    until: '2026-10-25T07:00:00.000Z',
  })
  t.end()
})

const buildSilence = (monitor_ids: string[], reason: string | null) => ({
  ...{
    id: monitor_ids.join(),
    monitor_ids,
    monitor_names: monitor_ids.map(id => `Shop ${id}`),
    until: ago(-60),
    reason,
  },
  ...{ status: 'active' as const, created_at: ago(1) },
})

t.test('The overview lists the silences in force, with a button that ends each; viewers have no button', t => {
  const silences = [buildSilence(['a'], null), buildSilence(['a', 'b', 'c', 'd', 'e'], 'Move to the new rack')]
  const listed = buildList(silences)
  const answers = { listSilences: { ...listed, meta: { ...listed.meta, total: 4 } } }
  const { html, text } = show('/', { answers })
  t.match(text, 'Shop a until 21 Nov 2026, 15:05:30 UTC End now')
  t.match(text, /Shop a , Shop b , Shop c and 2 monitors more until 21 Nov 2026, 15:05:30 UTC : Move to the new rack/)
  t.match(text, 'And 2 silences more.')
  t.match(html, 'href="/monitors/a"')
  t.equal(text.split('End now').length - 1, 2)
  const viewer = show('/', { answers, me: VIEWER })
  t.match(viewer.text, 'and 2 monitors more until')
  t.notMatch(viewer.text, 'End now')
  t.notMatch(show('/', {}).html, 'id="silences"', 'nothing without silences')
  t.end()
})

t.test('The page of a monitor says until when it is silenced, why, and whether alerts wait', t => {
  const silenced_by = [{ kind: 'silenced' as const, id: 's1', name: 'Move', until: ago(-60) }]
  const showVotes = (changes: object, state: ScreenState = {}) =>
    show(`/monitors/${ID}`, {
      ...state,
      answers: { listMonitorVotes: { data: buildCurrentVotes({ silenced_by, ...changes }) } },
    })
  const { text } = showVotes({ alerts_withheld: true })
  t.match(text, 'No alerts until 21 Nov 2026, 15:05:30 UTC : Move · Alerts wait until then.')
  t.match(text, 'End now')
  t.match(text, 'Silence…')
  t.notMatch(showVotes({}).text, 'Alerts wait')
  t.notMatch(showVotes({}, { me: VIEWER }).text, /End now|Silence…/)
  t.end()
})
