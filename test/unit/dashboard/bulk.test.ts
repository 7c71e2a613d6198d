import t from 'tap'
import {
  buildChange,
  type ChangeForm,
  EMPTY_FORM,
} from '../../../control-plane/dashboard/screens/monitors/bulk/change-request.ts'
import {
  type BulkResult,
  describeFieldChange,
  orderItems,
  summarizeResult,
} from '../../../control-plane/dashboard/screens/monitors/bulk/change-words.ts'
import {
  addRows,
  NOTHING_SELECTED,
  type Selection,
  toggleRange,
  toggleRow,
  toggleShown,
} from '../../../control-plane/dashboard/screens/monitors/bulk/selection.ts'
import { listEntries, rankByName } from '../../../control-plane/dashboard/screens/overlays/palette-entries.ts'
import { ADMIN, buildRow, VIEWER } from '../../support/dashboard-fixtures.ts'

const ORDER = ['a', 'b', 'c', 'd', 'e']
const listIds = ({ ids }: Selection) => [...ids].sort().join('')

t.test('A click selects one row, a click with Shift all rows from the last one', t => {
  const one = toggleRow(NOTHING_SELECTED, 'b')
  t.equal(listIds(one), 'b')
  const range = toggleRange(one, ORDER, 'd')
  t.equal(listIds(range), 'bcd')
  t.equal(listIds(toggleRange(range, ORDER, 'a')), 'abcd', 'upwards')
  const without = toggleRow(range, 'b')
  t.equal(listIds(without), 'cd')
  t.equal(listIds(toggleRange(without, ORDER, 'd')), '', 'a range that begins with a row that is not selected')
  t.equal(listIds(toggleRange(NOTHING_SELECTED, ORDER, 'c')), 'c', 'without a last row')
  t.equal(listIds(toggleRange(toggleRow(NOTHING_SELECTED, 'gone'), ORDER, 'c')), 'cgone', 'the last row left the list')
  t.end()
})

t.test('All shown rows are selected or not; rows of another filter stay selected', t => {
  const other = toggleRow(NOTHING_SELECTED, 'x')
  const all = toggleShown(other, ORDER)
  t.equal(listIds(all), 'abcdex')
  t.equal(listIds(toggleShown(all, ORDER)), 'x')
  t.equal(listIds(addRows(other, ['y', 'x'])), 'xy')
  t.end()
})

t.test('The form becomes the change of the API, or none while it is incomplete', t => {
  const id = '019c0000-0000-7000-8000-000000000001'
  const cases: [Partial<ChangeForm>, unknown][] = [
    [{ kind: 'interval', interval: '300' }, { interval_seconds: 300 }],
    [{ kind: 'interval', interval: '' }, null],
    [{ kind: 'timeout', timeout: '5000' }, { timeout_ms: 5_000 }],
    [{ kind: 'retries', retries: '0' }, { retry_count: 0 }],
    [{ kind: 'regions' }, null],
    [
      { kind: 'regions', regions: { 'us-east': 'add', 'eu-west': 'remove', 'us-west': 'keep' } },
      { regions: { add: ['us-east'], remove: ['eu-west'] } },
    ],
    [{ kind: 'tags', addedTags: ' , ' }, null],
    [
      { kind: 'tags', addedTags: 'shop, eu west,shop', removedTags: 'old' },
      { tags: { add: ['shop', 'eu west'], remove: ['old'] } },
    ],
    [{ kind: 'channels', channels: { [id]: 'add' } }, { alert_rules: { add: [{ alert_channel_id: id }], remove: [] } }],
    [{ kind: 'channels', channels: { [id]: 'keep' } }, null],
    [
      { kind: 'silence', silence: { length: '4h', time: '', reason: ' Move ' } },
      { silence: { until: '1970-01-01T04:00:00.000Z', reason: 'Move' } },
    ],
    [{ kind: 'silence', silence: { length: 'time', time: '', reason: '' } }, null],
    [{ kind: 'silence', silence: { length: 'end', time: '', reason: 'Move' } }, { silence: null }],
  ]
  for (const [form, change] of cases)
    t.same(buildChange({ ...EMPTY_FORM, ...form }, 0, 'UTC'), change, JSON.stringify(form))
  t.end()
})

t.test('Each changed field is described with its values', t => {
  const channels = new Map([['c1', 'Ops']])
  const rules = (...ids: string[]) => ids.map(alert_channel_id => ({ alert_channel_id }))
  const cases: [string, unknown, unknown, string][] = [
    ['is_paused', false, true, 'Checks: active → paused'],
    ['interval_seconds', 60, 3_600, 'Interval: 1 min → 1 h'],
    ['timeout_ms', 30_000, 500, 'Timeout: 30 s → 500 ms'],
    ['retry_count', 2, 0, 'Retries: 2 → 0'],
    ['regions', ['us-east'], ['us-east', 'eu-west'], 'Regions: us-east → us-east, eu-west'],
    ['tags', null, ['shop'], 'Tags: none → shop'],
    ['tags', ['shop'], [], 'Tags: shop → none'],
    ['alert_rules', [], rules('c1'), 'alerts to Ops'],
    ['alert_rules', rules('c1'), rules('c2'), 'alerts to c2; no alerts to Ops'],
    [
      'silence',
      null,
      { until: '2026-11-21T15:00:00.000Z', reason: 'Move' },
      'Silenced until: not silenced → 21 Nov 2026, 15:00:00',
    ],
    ['silence', { until: '2026-11-21T15:00:00.000Z' }, null, 'Silenced until: 21 Nov 2026, 15:00:00 → not silenced'],
    ['deleted', false, true, 'Deleted'],
  ]
  for (const [field, from, to, words] of cases) t.equal(describeFieldChange({ field, from, to }, channels), words)
  t.end()
})

t.test('A result is one sentence, and its items begin with what was refused', t => {
  const item = (result: 'changed' | 'unchanged' | 'refused') => ({
    ...{ monitor_id: result, name: result, result, changes: [], error: null },
  })
  const result: BulkResult = {
    ...{ dry_run: true, changed: 2, unchanged: 1, refused: 1, undo: null },
    items: [item('unchanged'), item('changed'), item('refused')],
  }
  t.equal(summarizeResult(result, false), '2 monitors change, 1 monitor stays as before, 1 monitor is refused')
  t.equal(summarizeResult(result, true), '2 monitors changed, 1 monitor stayed as before, 1 monitor was refused')
  t.equal(summarizeResult({ ...result, changed: 1, unchanged: 0, refused: 0 }, false), '1 monitor changes')
  t.same(
    orderItems(result.items).map(({ name }) => name),
    ['refused', 'changed', 'unchanged'],
  )
  t.end()
})

t.test('The palette lists saved filters, which open the list with their query', t => {
  const views = [{ id: 'v1', name: 'Shop in trouble', query: 'tag:"web shop" -is:up' }]
  const [view] = listEntries('trouble', VIEWER, [], views)
  t.match(view, { name: 'Shop in trouble', kind: 'View' })
  t.same(view?.target, { address: '/monitors?q=tag%3A%22web+shop%22+-is%3Aup' })
  t.same(listEntries('', VIEWER, [], views)[0], view, 'first, while nothing is typed')
  t.end()
})

t.test('The palette lists pages and actions, and with a text the monitors that match first', t => {
  const listNames = (text: string, me = ADMIN, names: string[] = []) =>
    listEntries(
      text,
      me,
      names.map(name => buildRow({ name })),
      [],
    ).map(({ name }) => name)
  t.ok(listNames('').includes('New monitor'))
  t.notOk(listNames('', VIEWER).includes('New monitor'))
  t.notOk(listNames('', ADMIN, ['Shop']).includes('Shop'), 'no monitors before a text')
  t.same(listNames('incid'), ['Incidents', 'Incidents: Maintenance', 'Incidents: Templates', 'Open an incident'])
  t.same(listNames('new', ADMIN, ['Old and new', 'Newsletter']), [
    'Newsletter',
    'Old and new',
    'New monitor',
    'New alert channel',
    'New status page',
  ])
  t.equal(
    listNames(
      'shop',
      ADMIN,
      Array.from({ length: 40 }, (_, i) => `Shop ${i}`),
    ).length,
    12,
  )
  t.same(
    rankByName([{ name: 'Web shop' }, { name: 'Shop' }, { name: 'Workshop' }, { name: 'Mail' }], 'shop').map(
      one => one.name,
    ),
    ['Shop', 'Web shop', 'Workshop'],
  )
  t.end()
})
