import { useEffect, useState } from 'preact/hooks'
import { toMaintenanceNotice } from '../../../../alerting/channels/notices/maintenance-notice.ts'
import { formatCount, formatDuration } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { Moment } from '../../../parts/moment.tsx'
import { findShowingPages, type ShownPages, usePublishedPages } from '../../../parts/monitors/published-pages.ts'
import { findScheduleProblems, notifies, toWindowBody, type WindowForm } from './window-form.ts'
import { listNextPeriods, toSchedule, type WindowRecord } from './window-periods.ts'
import { toZonedText } from './zoned-time.ts'

const SHOWN_PERIODS = 5

/** What a window will do: its next periods, and what subscribers of status pages are sent. */
export function Consequences({ form, isStored = false }: { form: WindowForm; isStored?: boolean }) {
  const { nowMs } = useFrame()
  const body = toWindowBody(form)
  const now = new Date(nowMs)
  const isValid = findScheduleProblems(body, now).length === 0
  const periods = isValid ? listNextPeriods(toSchedule(body as WindowRecord), now, SHOWN_PERIODS) : []
  const [next] = periods
  return (
    <>
      <aside aria-label="Next periods" class="periods">
        <h2>{form.isRecurring ? 'Next periods' : 'The period'}</h2>
        {periods.length === 0 ? (
          <p class="soft">Complete the schedule to see when it begins.</p>
        ) : (
          <ol>
            {periods.map(({ startsAt, endsAt }) => (
              <li key={startsAt.getTime()}>
                <Moment at={startsAt.toISOString()} />
                <small class="soft">
                  {' '}
                  for {formatDuration(endsAt.getTime() - startsAt.getTime())}
                  {form.isRecurring && form.timeZone !== form.zone && `, ${describeLocal(startsAt, form.timeZone)}`}
                </small>
              </li>
            ))}
          </ol>
        )}
        <p class="soft small">
          Alerts of the monitors are withheld during this time. Status pages show maintenance, and the uptime counts it
          apart.
        </p>
      </aside>
      <aside aria-label="Messages to subscribers" class="messages">
        <h2>Messages to subscribers</h2>
        {notifies(form) ? (
          <>
            {next && <Messages form={form} period={next} nowMs={nowMs} isStored={isStored} />}
            <Audience monitorIds={form.monitorIds} />
          </>
        ) : (
          <p class="soft">Subscribers receive no message about this window.</p>
        )}
      </aside>
    </>
  )
}

const describeLocal = (at: Date, timeZone: string) => `${toZonedText(at, timeZone).slice(11)} in ${timeZone}`

/** When a message is sent that is due already: of a stored window it was sent when the window was saved. */
const AT_ONCE = { new: 'at once, when you save', stored: 'sent when the window was saved' }

const STAGES = ['announced', 'begun', 'ended'] as const

/** The subjects and times of the messages about the next period, in the words that are sent. */
function Messages({
  form,
  period,
  nowMs,
  isStored,
}: {
  form: WindowForm
  period: { startsAt: Date; endsAt: Date }
  nowMs: number
  isStored: boolean
}) {
  const starts = period.startsAt.getTime()
  const announceMs = Number(form.announce) * 1_000
  const times = {
    announced: starts <= nowMs || !(announceMs > 0) ? null : Math.max(nowMs, starts - announceMs),
    begun: Math.max(nowMs, starts),
    ended: period.endsAt.getTime(),
  }
  return (
    <ol>
      {STAGES.map(stage => {
        const atMs = times[stage]
        if (atMs === null) return null
        const notice = toMaintenanceNotice(
          { id: '', name: '', url: 'https://status.example' },
          {
            event: `maintenance.${stage}`,
            at: new Date(atMs).toISOString(),
            maintenance: {
              ...{ id: '', title: form.title || 'Title', description: form.description },
              ...{ starts_at: period.startsAt.toISOString(), ends_at: period.endsAt.toISOString() },
            },
            components: [],
          },
        )
        return (
          <li key={stage}>
            <b dir="auto">
              {notice.badge}: {notice.title}
            </b>
            <br />
            <small class="soft">
              {atMs === nowMs ? AT_ONCE[isStored ? 'stored' : 'new'] : <Moment at={new Date(atMs).toISOString()} />}
            </small>
            {stage === 'announced' && notice.text && (
              <p class="small text" dir="auto">
                {notice.text}
              </p>
            )}
          </li>
        )
      })}
    </ol>
  )
}

/** The published pages that show one of the monitors, and their confirmed subscribers. */
function Audience({ monitorIds }: { monitorIds: readonly string[] }) {
  const published = usePublishedPages()
  const counts = useSubscriberCounts(published)
  if (monitorIds.length === 0)
    return (
      <p class="soft small">
        Choose monitors to see which status pages show them, and how many subscribers those have.
      </p>
    )
  if (published === null || counts === null) return null
  const { shown, isCertain } = findShowingPages(published, monitorIds)
  return (
    <>
      {shown.length > 0 && (
        <ul class="audience small">
          {shown.map(({ page: { id, name } }) => (
            <li key={id}>
              <bdi>{name}</bdi>: <a href={`/pages/${id}/subscribers`}>{describeCount(counts.get(id))}</a>
            </li>
          ))}
        </ul>
      )}
      {describeOthers(shown.length, isCertain) && <p class="soft small">{describeOthers(shown.length, isCertain)}</p>}
    </>
  )
}

const describeCount = (count: number | undefined) =>
  count === undefined ? 'an unknown number of subscribers' : formatCount(count, 'subscriber')

/** What is known about pages that are not listed; null: there are none. */
export function describeOthers(shown: number, isCertain: boolean): string | null {
  if (!isCertain)
    return shown === 0
      ? 'Which status pages show these monitors could not be determined, so messages may be sent.'
      : 'Whether other status pages show these monitors could not be determined.'
  return shown === 0 ? 'No published status page shows one of these monitors, so no message is sent.' : null
}

/** The confirmed subscribers by page, without those that cannot be read; null until they are read. */
function useSubscriberCounts(published: ShownPages | null): ReadonlyMap<string, number> | null {
  const { execute } = useFrame()
  const [counts, setCounts] = useState<ReadonlyMap<string, number> | null>(null)
  useEffect(() => {
    const reads = published?.pages.map(async ({ page: { id } }): Promise<[string, number][]> => {
      const list = await execute('listStatusPageSubscribers', { path: { id }, query: { per_page: 1 } })
      return 'data' in list ? [[id, list.data.meta.total]] : []
    })
    if (reads) void Promise.all(reads).then(found => setCounts(new Map(found.flat())))
  }, [published])
  return counts
}
