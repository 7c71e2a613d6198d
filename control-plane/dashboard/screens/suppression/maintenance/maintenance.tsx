import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount, formatNumber } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Scroll, Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Calendar } from './calendar/month-calendar.tsx'
import { describeCron } from './recurrence.ts'
import type { WindowRecord } from './window-periods.ts'

const PATH = '/maintenance'

/** The maintenance windows: a calendar of a month, and the list. `?month=2026-11` */
export const maintenanceScreen = screen({
  path: PATH,
  area: 'incidents',
  queries: ({ search }) => ({
    windows: read('listMaintenanceWindows', { query: { per_page: 100, page: parsePage(search) } }),
  }),
  title: () => 'Maintenance',
  Body: ({ results, search }) => {
    const { me } = useFrame()
    return (
      <>
        <div class="screen-head">
          <div>
            <h1>Maintenance</h1>
            <Sentence windows={results.windows.data?.data ?? null} />
          </div>
          {canWrite(me) && (
            <a class="button main" href="/maintenance/new">
              New window
            </a>
          )}
        </div>
        <AreaTabs area="incidents" current={PATH} />
        <NeedsRole what="Planning and changing maintenance" needed="editor" />
        <Loaded result={results.windows} what="The maintenance windows">
          {({ data, meta }) =>
            meta.total === 0 ? (
              <>
                <Empty text="There is no maintenance window. During one, alerts are withheld and status pages show maintenance.">
                  {canWrite(me) && <a href="/maintenance/new">Plan maintenance</a>}
                </Empty>
                {canWrite(me) && <Calendar month={search.get('month')} windows={data} />}
              </>
            ) : (
              <>
                <Calendar month={search.get('month')} windows={data} />
                <WindowList windows={data} />
                <Pager meta={meta} what="windows" buildPath={page => buildAddress(PATH, { page })} />
              </>
            )
          }
        </Loaded>
      </>
    )
  },
})

/** What is in maintenance now. */
function Sentence({ windows }: { windows: readonly WindowRecord[] | null }) {
  if (windows === null) return null
  const active = windows.filter(({ status }) => status === 'active')
  if (active.length === 0) return <p class="sentence soft">Nothing is in maintenance now.</p>
  const monitors = new Set(active.flatMap(one => one.monitor_ids)).size
  return (
    <p class="sentence">
      {formatCount(active.length, 'window')} in progress, with {formatCount(monitors, 'monitor')}.
    </p>
  )
}

const ORDER = { active: 0, scheduled: 1, ended: 2 }
const STATUS_NAMES = { active: 'in progress', scheduled: 'planned', ended: 'over' }

/** Running windows first, then the next ones, then those that are over. */
const compareWindows = (a: WindowRecord, b: WindowRecord) =>
  ORDER[a.status] - ORDER[b.status] || (a.next_starts_at ?? '').localeCompare(b.next_starts_at ?? '')

const WindowList = ({ windows }: { windows: readonly WindowRecord[] }) => (
  <Section id="windows" title="Windows">
    <Scroll name="Maintenance windows">
      <table class="rows windows">
        <thead>
          <tr>
            <th scope="col">Title</th>
            <th scope="col">State</th>
            <th scope="col">When</th>
            <th scope="col" class="number">
              Monitors
            </th>
            <th scope="col">Subscribers</th>
          </tr>
        </thead>
        <tbody>
          {windows.toSorted(compareWindows).map(window => (
            <tr key={window.id}>
              <td>
                <a class="row" href={`${PATH}/${window.id}`} dir="auto">
                  {window.title}
                </a>
              </td>
              <td class="nowrap">
                {window.status === 'active' ? <b>{STATUS_NAMES.active}</b> : STATUS_NAMES[window.status]}
              </td>
              <td>
                <When window={window} />
              </td>
              <td class="number aside">{formatNumber(window.monitor_ids.length)}</td>
              <td class="soft">{describeNotices(window)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </Section>
)

const When = ({ window }: { window: WindowRecord }) => {
  const { cron, starts_at: from, ends_at: until, next_starts_at: next, time_zone: zone } = window
  if (cron === null)
    return from !== null && until !== null ? (
      <>
        <Moment at={from} /> – <Moment at={until} />
      </>
    ) : null
  return (
    <>
      <bdi>{describeCron(cron)}</bdi> <bdi class="soft small">{zone}</bdi>
      {next !== null && (
        <small class="soft">
          , next <Moment at={next} />
        </small>
      )}
    </>
  )
}

function describeNotices({ notify_subscribers: notifies, announce_minutes: minutes }: WindowRecord): string {
  if (!notifies) return 'not notified'
  if (minutes === 0) return 'not announced'
  return minutes % 1_440 === 0
    ? `${formatCount(minutes / 1_440, 'day')} before`
    : `${(minutes / 60).toLocaleString('en', { maximumFractionDigits: 1 })} h before`
}
