import type { FunctionComponent } from 'preact'
import t from 'tap'
import type { Execute } from '../../../control-plane/dashboard/core/operations.ts'
import { buildFormErrors } from '../../../control-plane/dashboard/parts/forms/field-errors.ts'
import {
  findShowingPages,
  readPublishedPages,
} from '../../../control-plane/dashboard/parts/monitors/published-pages.ts'
import {
  buildBadgeSnippets,
  buildFrameSnippet,
  buildWidgetSnippet,
} from '../../../control-plane/dashboard/screens/pages/reach/embed-snippets.ts'
import {
  addMonths,
  buildMonth,
  readMonth,
} from '../../../control-plane/dashboard/screens/suppression/maintenance/calendar/month.ts'
import { describeOthers } from '../../../control-plane/dashboard/screens/suppression/maintenance/consequences.tsx'
import {
  describeCron,
  EMPTY_RECURRENCE,
  parseCron,
  toCron,
} from '../../../control-plane/dashboard/screens/suppression/maintenance/recurrence.ts'
import { WindowFields } from '../../../control-plane/dashboard/screens/suppression/maintenance/window-fields.tsx'
import {
  findWindowProblems,
  moveToZone,
  startForm,
  toWindowBody,
  toWindowForm,
  toWindowUpdate,
  type WindowForm,
} from '../../../control-plane/dashboard/screens/suppression/maintenance/window-form.ts'
import { listNextPeriods } from '../../../control-plane/dashboard/screens/suppression/maintenance/window-periods.ts'
import {
  parseZonedText,
  toZonedText,
} from '../../../control-plane/dashboard/screens/suppression/maintenance/zoned-time.ts'
import { VIEWER } from '../../support/dashboard-fixtures.ts'
import { buildWindow } from '../../support/dashboard-reach-answers.ts'
import { FULL } from '../../support/dashboard-scenes.ts'
import { renderScreen } from '../../support/dashboard-screens.tsx'
import { fire, listElements } from '../../support/elements.ts'
import { buildComponent, buildPage } from '../../support/page-records.ts'

const TIMES: [text: string, timeZone: string, at: string][] = [
  ['2026-11-21T08:00', 'UTC', '2026-11-21T08:00:00.000Z'],
  ['2026-11-21T08:00', 'Asia/Kolkata', '2026-11-21T02:30:00.000Z'],
  ['2026-07-01T00:30', 'America/New_York', '2026-07-01T04:30:00.000Z'],
  ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
]
t.test('A time in a form means the same moment as in its time zone, across daylight saving time', async t => {
  for (const [text, timeZone, at] of TIMES) {
    t.equal(parseZonedText(text, timeZone)?.toISOString(), at, `${text} ${timeZone}`)
    t.equal(toZonedText(new Date(at), timeZone), text)
  }
  t.equal(
    parseZonedText('2026-10-25T02:30', 'Europe/Berlin')?.toISOString(),
    '2026-10-25T00:30:00.000Z',
    'the first of two',
  )
  t.equal(
    parseZonedText('2026-03-29T02:30', 'Europe/Berlin')?.toISOString(),
    '2026-03-29T01:30:00.000Z',
    'a skipped time',
  )
  t.equal(parseZonedText('', 'UTC'), null)
})

const CRONS: [cron: string, words: string][] = [
  ['0 2 * * *', 'every day at 02:00'],
  ['30 14 * * 6', 'every Saturday at 14:30'],
  ['5 0 31 * *', 'on day 31 of each month at 00:05'],
  ['0 2 1 * 1', 'cron 0 2 1 * 1'],
  ['*/5 * * * *', 'cron */5 * * * *'],
]
t.test('A cron expression is shown as a choice, and the choice is the same expression', async t => {
  for (const [cron, words] of CRONS) {
    t.equal(toCron(parseCron(cron)), cron)
    t.equal(describeCron(cron), words)
  }
})

t.test('A month has whole weeks from Monday, with each period on its days in the time zone of the person', async t => {
  const created_at = '2026-01-01T00:00:00.000Z'
  const weekly = buildWindow({ created_at })
  const move = { cron: null, duration_minutes: null, time_zone: null, created_at }
  const long = buildWindow({ ...move, id: 'w2', starts_at: '2026-11-09T22:00:00Z', ends_at: '2026-11-11T00:00:00Z' })
  const past = buildWindow({
    ...move,
    id: 'w3',
    starts_at: '2026-11-02T00:00:00Z',
    ends_at: '2026-11-02T01:00:00Z',
    created_at: '2026-11-03T00:00:00Z',
  })
  const listDays = (timeZone: string, id: string) =>
    buildMonth('2026-11', [weekly, long, past], { timeZone, most: 1_000 })
      .weeks.flat()
      .filter(({ isOther, entries }) => !isOther && entries.some(({ window }) => window.id === id))
      .map(({ day }) => Number(day.slice(8)))
  const { weeks } = buildMonth('2026-11', [], { timeZone: 'UTC', most: 1_000 })
  t.same([weeks.length, weeks[0]?.[0]?.day, weeks.at(-1)?.at(-1)?.day], [6, '2026-10-26', '2026-12-06'])
  t.same(listDays('UTC', 'w1'), [1, 8, 15, 22, 29])
  t.same(listDays('America/New_York', 'w1'), [7, 14, 21, 28], 'the evening before')
  t.same(listDays('UTC', 'w2'), [9, 10], 'until midnight')
  t.same(listDays('Europe/Berlin', 'w2'), [9, 10, 11])
  t.same(listDays('UTC', 'w3'), [], 'what was over before the window existed')
  t.same(
    buildMonth('2026-11', [buildWindow({ time_zone: 'Mars/Base' })], { timeZone: 'UTC', most: 1_000 })
      .weeks.flat()
      .flatMap(day => day.entries),
    [],
  )
  t.equal(readMonth('2026-13', '2026-11-23'), '2026-11')
  t.equal(addMonths('2026-12', 1), '2027-01')
})

t.test('A month computes a limited number of periods, over all days, and says when some are left out', async t => {
  const often = buildWindow({ cron: '*/2 * * * *', duration_minutes: 1, created_at: '2026-01-01T00:00:00.000Z' })
  const month = (windows: number, most: number) => {
    const { weeks, isCut } = buildMonth('2026-11', Array(windows).fill(often), { timeZone: 'UTC', most })
    const days = weeks.flat().map(day => day.entries.length)
    return { isCut, first: days[0], last: days.at(-1), all: days.reduce((sum, count) => sum + count, 0) }
  }
  t.same(month(1, 1_000), { isCut: true, first: 4, last: 4, all: 168 })
  t.match(month(2, 100), { isCut: true, last: 0 })
  t.ok(month(2, 100).all <= 100)
  t.same(month(50, 100), { isCut: true, first: 0, last: 0, all: 0 })
  const daily = buildWindow({ cron: '0 3 * * *', created_at: '2026-01-01T00:00:00.000Z' })
  t.notOk(buildMonth('2026-11', [daily], { timeZone: 'UTC', most: 100 }).isCut)
})

t.test('Periods are shown of a window of an earlier version, whose expression is refused today', async t => {
  const schedule = { cron: '0 2 15W * *', durationMinutes: 60, timeZone: 'UTC', startsAt: null, endsAt: null }
  const [next] = listNextPeriods(schedule, new Date('2026-11-23T10:20:00Z'), 1)
  t.equal(next?.startsAt.toISOString(), '2026-12-15T02:00:00.000Z')
  t.same(listNextPeriods({ ...schedule, cron: 'a b c d e' }, new Date(), 1), [])
})

t.test('The form of a window sends what the API expects, and only changes on an update', async t => {
  const start = startForm(Date.parse('2026-11-23T10:20:00Z'), 'Europe/Berlin')
  t.match(start, { startsAt: '2026-11-23T12:00', endsAt: '2026-11-23T14:00' })
  const now = new Date('2026-11-23T10:20:00Z')
  const paths = (form: typeof start) => findWindowProblems(toWindowBody(form), now).map(({ path }) => path)
  t.same(paths(start), ['title', 'monitor_ids'])
  t.same(paths({ ...start, title: 'Move', monitorIds: ['m1'], endsAt: '2026-11-23T11:00' }), ['ends_at'])
  const recurrence = { ...EMPTY_RECURRENCE, time: '' }
  t.same(paths({ ...start, title: 'Move', monitorIds: ['m1'], isRecurring: true, recurrence }), ['cron'])
  const stored = buildWindow()
  const form = toWindowForm(stored, 'UTC')
  t.equal(toWindowUpdate(stored, form), null)
  t.same(toWindowUpdate(stored, { ...form, title: 'Backup', announce: '3600' }), {
    title: 'Backup',
    announce_minutes: 60,
  })
})

t.test(
  'Whether subscribers are notified is proposed for a new window, and stays as it was chosen or stored',
  async t => {
    /** What is sent about the notices after "Recurring" or "Once" was chosen. */
    const choose = (form: WindowForm, isRecurring: boolean) => {
      let changed = form
      const change = (part: Partial<WindowForm>) => {
        changed = { ...changed, ...part }
      }
      const fields = WindowFields({ form, errors: buildFormErrors([]), change })
      const kind = listElements(fields).find(({ type }) => typeof type === 'function' && type.name === 'Kind')!
      const radios = listElements((kind.type as FunctionComponent)(kind.props)).filter(({ type }) => type === 'input')
      fire(radios[isRecurring ? 1 : 0]!, 'onChange')
      return [changed, toWindowBody(changed).notify_subscribers] as const
    }
    const start = startForm(Date.parse('2026-11-23T10:20:00Z'), 'Europe/Berlin')
    t.equal(toWindowBody(start).notify_subscribers, true)
    const [recurring, isProposed] = choose(start, true)
    t.equal(isProposed, false, 'recurring windows send nothing by default')
    t.equal(choose(recurring, false)[1], true)
    const [mine, isKept] = choose({ ...start, notifySubscribers: true }, true)
    t.equal(isKept, true, 'the person wants messages about each period')
    t.equal(choose(mine, false)[1], true)
    const silent = toWindowForm(buildWindow({ notify_subscribers: false }), 'UTC')
    const [changed] = choose(silent, true)
    t.equal(choose(changed, false)[1], false, 'a stored window whose subscribers get nothing')
  },
)

t.test('The times of a window stay the same moments in another time zone, and while it recurs', async t => {
  const start = startForm(Date.parse('2026-11-23T10:20:00Z'), 'Europe/Berlin')
  const moved = moveToZone({ ...start, title: 'Move', notBefore: '2026-12-01T', notAfter: '' }, 'America/New_York')
  t.match(moved, { title: 'Move', startsAt: '2026-11-23T06:00', endsAt: '2026-11-23T08:00', timeZone: 'Europe/Berlin' })
  t.match(moved, { notBefore: '2026-12-01T', notAfter: '' }, 'what is not complete stays')
  t.same(toWindowBody(moved).starts_at, toWindowBody(start).starts_at)
  t.match(toWindowBody({ ...start, isRecurring: true }), { starts_at: null, ends_at: null }, 'no bounds at first')
  const weekly = buildWindow({
    cron: '0 2 * * 0',
    duration_minutes: 60,
    time_zone: 'UTC',
    ends_at: '2026-12-24T00:00:00Z',
  })
  const form = toWindowForm(weekly, 'UTC')
  t.match(form, { startsAt: '', notAfter: '2026-12-24T00:00' })
  t.equal(toWindowUpdate(weekly, moveToZone(form, 'Asia/Kolkata')), null, 'another time zone changes nothing')
})

t.test('A viewer sees maintenance and the subscribers, and no button that changes them', async t => {
  const addresses = ['/maintenance', '/maintenance/w1', '/maintenance/new', '/pages/p1/subscribers', '/pages/p1/domain']
  for (const address of addresses) {
    const { html } = renderScreen(address, { ...FULL, me: VIEWER })
    t.match(html, /needs the role editor\. Your role is viewer/, address)
    t.notMatch(html, />(New window|Remove|Delete the|Create the|Set the domain)/, address)
  }
  t.match(renderScreen('/maintenance', { ...FULL, me: VIEWER }).html, 'Database upgrade')
})

t.test('Snippets of embeds have the chosen options, and hostile names stay text', async t => {
  const url = 'https://acme.example'
  const plain = buildBadgeSnippets(url, { figure: 'status', component: '', style: 'flat' })
  t.equal(plain.markdown, `[![Status](${url}/badge.svg)](${url})`)
  const chosen = buildBadgeSnippets(url, { figure: 'uptime', component: 'c1', style: 'flat-square' })
  t.equal(
    chosen.html,
    `<a href="${url}"><img src="${url}/badge.svg?type=uptime&amp;component=c1&amp;style=flat-square" alt="Status"></a>`,
  )
  t.equal(
    buildWidgetSnippet(url, { position: 'inline', theme: 'dark', isHidden: true }),
    `<script src="${url}/widget.js" data-position="inline" data-theme="dark" data-hide-when-operational async></script>`,
  )
  t.match(
    buildFrameSnippet({ public_url: url, name: '"><script>' }, 'auto').html,
    'title="Status of &quot;&gt;&lt;script&gt;"',
  )
})

/** Answers for a project with `count` published pages, of which `components` each show a monitor of their own; null: the read fails. */
const answerPages = (count: number, components: Record<string, string | null>, more = 0): Execute => {
  const pages = Array.from({ length: count }, (_, i) => buildPage({ id: `p${i}`, name: `Page ${i}` }))
  const answer = (name: string, args: { path?: { id?: string } }) => {
    if (name === 'listStatusPages') return { data: { data: pages, meta: { total: count } } }
    const monitorId = components[args.path!.id!]
    if (monitorId === null) return { error: { status: 503, code: 'unavailable', message: 'try again' } }
    const data = [buildComponent({ monitor_id: monitorId ?? 'other' })]
    return { data: { data, meta: { total: data.length + more } } }
  }
  return (async (name: string, args: object) => answer(name, args)) as unknown as Execute
}

t.test('A window says that no message is sent only when every page and component was read', async t => {
  const read = async (execute: Execute) => {
    const { shown, isCertain } = findShowingPages(await readPublishedPages(execute), ['shop'])
    return [shown.map(({ page }) => page.id), describeOthers(shown.length, isCertain)]
  }
  t.same(await read(answerPages(1, { p0: 'shop' })), [['p0'], null])
  t.same(await read(answerPages(2, { p1: 'shop' }, 3)), [
    ['p1'],
    'Whether other status pages show these monitors could not be determined.',
  ])
  t.match(await read(answerPages(2, {})), [[], /no message is sent/])
  const unknown = [[], /could not be determined, so messages may be sent/]
  t.match(await read(answerPages(11, {})), unknown, 'more pages than are examined')
  t.match(await read(answerPages(1, {}, 1)), unknown, 'more components than are examined')
  t.match(await read(answerPages(2, { p1: null })), unknown, 'a read failed')
  const failing = (async () => ({ error: { status: 0, code: 'unreachable', message: '' } })) as unknown as Execute
  t.match(await read(failing), unknown, 'the list cannot be read')
})

t.test('A window without monitors asks for them before it says who gets messages', async t => {
  const { html } = renderScreen('/maintenance/new', FULL)
  t.match(html, 'Choose monitors to see which status pages show them')
  t.notMatch(html, 'No published status page shows')
  t.notMatch(renderScreen('/maintenance/w1', FULL).html, 'Choose monitors to see')
})
