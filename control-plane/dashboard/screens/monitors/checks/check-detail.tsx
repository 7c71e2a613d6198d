import { formatMs } from '../../../core/format.ts'
import { Facts } from '../../../parts/layout/section.tsx'
import type { Check } from '../types.ts'
import { BaselineAcceptance, Certificates, Screenshots } from './check-parts.tsx'

const PHASES = [
  ['dns_ms', 'DNS'],
  ['connect_ms', 'Connect'],
  ['tls_ms', 'TLS'],
  ['first_byte_ms', 'First byte'],
  ['transfer_ms', 'Transfer'],
] as const

const FAULTS = { target: 'target', resolver: 'DNS resolver', internal: 'Picket' }

type DetailProps = {
  check: Check
  /** the address of the picture to which its screenshot is compared */
  baseline: string | null
  /** whether its screenshot would become the baseline */
  isAcceptable: boolean
}

/** Everything that is known about one check. */
export const CheckDetail = ({ check, baseline, isAcceptable }: DetailProps) => (
  <div class="check-detail">
    <Phases timings={check.timings} />
    <Facts
      rows={[
        ['Response', formatResponse(check)],
        ['Attempt', `${check.attempt}, ${TRIGGERS[check.trigger]}`],
        ['Address', check.resolved_ip],
        ['Probe', check.probe_id && <code>{check.probe_id}</code>],
        ['Cause', check.error && FAULTS[check.error.source]],
        ['Error', check.error && `${check.error.message} (${check.error.code})`],
        ...check.failed_assertions.map((failed): [string, string] => [
          'Failed assertion',
          `${failed.type} ${failed.operator} ${failed.value}; actual value: ${failed.actual}`,
        ]),
        ['Packets', check.ping && `${check.ping.received} of ${check.ping.sent}, ${check.ping.loss_percent} % lost`],
        ['DNS answer', check.dns && `${check.dns.rcode} from ${check.dns.server}`],
        ['Check', <code>{check.id}</code>],
      ]}
    />
    <Screenshots check={check} baseline={baseline} />
    {isAcceptable && <BaselineAcceptance monitorId={check.monitor_id} />}
    <Certificates check={check} />
    {check.dns && check.dns.records.length > 0 && (
      <>
        <h3>DNS answer</h3>
        <pre dir="ltr">
          {check.dns.records
            .map(({ name, ttl_seconds: ttl, type, value }) => `${name} ${ttl} ${type} ${value}`)
            .join('\n')}
        </pre>
      </>
    )}
    {check.evidence && <Evidence evidence={check.evidence} />}
  </div>
)

/** `503, 62 ms`; null without any. */
function formatResponse({ status_code: code, response_time_ms: ms }: Check): string | null {
  const parts = [code || null, ms === null ? null : formatMs(ms)].filter(part => part !== null)
  return parts.length === 0 ? null : parts.join(', ')
}

const TRIGGERS: Record<Check['trigger'], string> = {
  schedule: 'by schedule',
  run_now: 'on demand',
  second_opinion: 'a second opinion for another region',
}

const Evidence = ({ evidence }: { evidence: NonNullable<Check['evidence']> }) => (
  <>
    <h3>Answer of the target</h3>
    <pre dir="ltr">
      {Object.entries(evidence.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')}
      {evidence.body && `\n\n${evidence.body}`}
    </pre>
  </>
)

/** The phases as one bar in proportion, with their times. */
function Phases({ timings }: { timings: Check['timings'] }) {
  if (!timings) return null
  const phases = PHASES.map(([key, name]) => ({ name, ms: timings[key] })).filter(({ ms }) => ms > 0)
  const total = phases.reduce((sum, { ms }) => sum + ms, 0)
  if (total === 0) return null
  let start = 0
  const placed = phases.map(phase => {
    const x = start
    start += (phase.ms / total) * 100
    return { ...phase, x, width: (phase.ms / total) * 100 }
  })
  return (
    <figure class="phases">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        {placed.map(({ name, x, width }) => (
          <rect
            key={name}
            class={`phase-${PHASES.findIndex(([, one]) => one === name)}`}
            x={x}
            width={width}
            height="8"
          />
        ))}
      </svg>
      <figcaption class="soft small">{phases.map(({ name, ms }) => `${name} ${formatMs(ms)}`).join(' · ')}</figcaption>
    </figure>
  )
}
