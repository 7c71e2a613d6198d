import { formatCount } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { Section } from '../../parts/layout/section.tsx'
import { Empty, Failure, Loaded } from '../../parts/layout/states.tsx'
import { Ago, Moment } from '../../parts/moment.tsx'
import { getShownStatus, Status } from '../../parts/status.tsx'

const DAY_MS = 24 * 3_600_000

/** The monitors whose status changed in the last 24 hours, also those that recovered. The newest change comes first. */
export function RecentChanges({ result }: { result: Result<OperationResponse<'listMonitors'>> }) {
  const { nowMs } = useFrame()
  const isRecent = (at: string | null) => at !== null && nowMs - Date.parse(at) < DAY_MS
  return (
    <Section
      id="changes"
      title="Changes in 24 hours"
      aside={<a href="/monitors?q=since%3A%3C24h">All monitors that changed</a>}
    >
      <Loaded result={result} what="The changes">
        {({ data }) => {
          const changed = data.filter(({ status_changed_at }) => isRecent(status_changed_at))
          if (changed.length === 0) return <Empty text="No monitor changed its status." />
          return (
            <ul class="list">
              {changed.map(monitor => (
                <li key={monitor.id}>
                  <a href={`/monitors/${monitor.id}`} dir="auto">
                    {monitor.name}
                  </a>{' '}
                  <span class="soft">
                    <Status status={getShownStatus(monitor)} /> since <Ago at={monitor.status_changed_at!} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** How early the end of a certificate or a domain is shown. */
const EXPIRY_DAYS = 30

/** Certificates and domains that end soon or have ended, the earliest first. Nothing when there are none. */
export function ExpirySoon({ result }: { result: Result<OperationResponse<'listMonitors'>> }) {
  const { nowMs } = useFrame()
  const monitors = result.data?.data ?? []
  const total = result.data?.meta.total ?? 0
  const listEnds = ({ id, name, ssl_expires_at: certificate, domain_expires_at: domain }: (typeof monitors)[number]) =>
    [
      { id, name, what: 'certificate', at: certificate },
      { id, name, what: 'domain', at: domain },
    ].filter(({ at }) => at !== null && Date.parse(at) - nowMs < EXPIRY_DAYS * DAY_MS)
  const ends = monitors.flatMap(listEnds).sort((a, b) => Date.parse(a.at!) - Date.parse(b.at!))
  if (ends.length === 0 && !result.error) return null
  // the monitors that were not read end later than the last one that was
  const mayBeMore = total > monitors.length && monitors.slice(-1).flatMap(listEnds).length > 0
  return (
    <Section id="expiry" title="Ends soon">
      <Failure result={result} what="The ends of certificates and domains" />
      {ends.length > 0 && (
        <ul class="list">
          {ends.map(({ id, name, what, at }) => (
            <li key={id + what}>
              <a href={`/monitors/${id}`} dir="auto">
                {name}
              </a>{' '}
              <span class="soft">
                the {what} {Date.parse(at!) < nowMs ? 'ended' : 'ends'} <Moment at={at!} part="date" />
              </span>
            </li>
          ))}
        </ul>
      )}
      {mayBeMore && (
        <p class="soft small">
          The first {formatCount(monitors.length, 'monitor')}. <code>GET /monitors?sort=expires</code> lists all.
        </p>
      )}
    </Section>
  )
}

/** Maintenance that is in force, and that begins within 24 hours. Nothing when there is none. */
export function MaintenanceSoon({ result }: { result: Result<OperationResponse<'listMaintenanceWindows'>> }) {
  const { nowMs } = useFrame()
  const isSoon = (at: string | null) => at !== null && Date.parse(at) - nowMs < DAY_MS
  const shown = result.data?.data.filter(one => one.status === 'active' || isSoon(one.next_starts_at)) ?? []
  if (shown.length === 0 && !result.error) return null
  return (
    <Section id="maintenance" title="Maintenance" aside={<a href="/maintenance">All maintenance</a>}>
      <Failure result={result} what="The maintenance windows" />
      {shown.length > 0 && (
        <ul class="list">
          {shown.map(({ id, title, status, cron, ends_at: endsAt, next_starts_at: startsAt }) => (
            <li key={id}>
              <a href={`/maintenance/${id}`} dir="auto">
                {title}
              </a>{' '}
              <span class="soft">
                {status === 'active' ? 'in force' : 'begins '}
                {status !== 'active' && startsAt && <Moment at={startsAt} />}
                {status === 'active' && cron === null && endsAt && (
                  <>
                    , ends <Moment at={endsAt} />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
