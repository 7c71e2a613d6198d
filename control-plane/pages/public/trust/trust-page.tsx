import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import type { Percentiles } from '../../../insight/canaries/measurement/statistics-store.ts'
import { STYLES } from '../../templates/assets.ts'
import { buildBrandStyle } from '../../templates/document/brand-style.ts'
import { Moment } from '../../templates/parts/moment.tsx'
import { IconSheet, StatusIcon } from '../../templates/parts/status-icons.tsx'
import { FAILURE_LABELS, formatCount, formatDelay, formatSeconds, formatSettings, summarizeTrust } from './labels.ts'
import { RangeBar } from './range-bar.tsx'
import { roundUpToTenth, TRUST_DAYS, type TrustReport, type TrustRow } from './trust.ts'

const BLUE = '#2563eb'
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='%232563eb'%3E%3Cpath d='M12 2 4 6v6c0 5 3.4 8.7 8 10 4.6-1.3 8-5 8-10V6z'/%3E%3C/svg%3E"

/**
 * The guaranteed and the measured detection times of this installation (docs/design/status-pages.md#trust-page).
 * `host`: its public host.
 */
export function renderTrustPage(host: string, trust: TrustReport): RenderedDocument {
  const title = 'How fast outages are detected'
  return renderDocument({
    lang: 'en',
    title: `${title} · ${host}`,
    head: (
      <>
        <meta name="description" content={`${title} by ${host}: guaranteed and measured times.`} />
        <link rel="icon" href={ICON} />
        <link rel="alternate" type="application/json" href="/trust.json" />
      </>
    ),
    styles: [STYLES.base + STYLES.trust, buildBrandStyle(BLUE)],
    scripts: [],
    hasInlineIcon: true,
    body: (
      <body>
        <div class="page trust">
          <IconSheet />
          <header class="top">
            <p class="masthead">{host}</p>
          </header>
          <main>
            <h1>{title}</h1>
            <Summary trust={trust} />
            <Figures trust={trust} />
            <LastMiss trust={trust} />
            <Method trust={trust} />
          </main>
          <footer class="footer">
            <p>
              As of <Moment at={trust.at} />, the last {TRUST_DAYS} days. <a href="/trust.json">View as JSON</a>
            </p>
            <p class="powered">Powered by Picket</p>
          </footer>
        </div>
      </body>
    ),
  })
}

function Summary({ trust }: { trust: TrustReport }) {
  const { sign, sentence } = summarizeTrust(trust)
  return (
    <div class={`overall ${sign}`} role="status">
      <StatusIcon sign={sign} />
      <p class="sentence">{sentence}</p>
    </div>
  )
}

function Figures({ trust }: { trust: TrustReport }) {
  const most = Math.max(
    ...trust.rows.flatMap(({ limits, measured }) => [limits.messageWithin, measured?.message.p99 ?? 0]),
  )
  return (
    <section>
      <h2>Seconds from the start of an outage</h2>
      <p class="lead">
        Of 100 planned outages, 50 take no longer than p50, 95 no longer than p95 and 99 no longer than p99.
      </p>
      <ul class="rows">
        {trust.rows.map(row => (
          <Row key={row.kind} row={row} most={most} />
        ))}
      </ul>
      <p class="legend" aria-hidden="true">
        <span class="half">p50</span>
        <span class="most">p95</span>
        <span class="nearly">p99</span>
        <span class="limit">guaranteed: first alert</span>
      </p>
    </section>
  )
}

function Row({ row: { kind, limits, measured }, most }: { row: TrustRow; most: number }) {
  const [name, about] = FAILURE_LABELS[kind]
  return (
    <li class="kind">
      <div class="what">
        <h3>{name}</h3>
        <p class="about">{about}</p>
        <p class="count">{measured ? `${formatCount(measured.outages)} planned outages` : 'Not measured yet'}</p>
      </div>
      <RangeBar limit={limits.messageWithin} most={most} message={measured?.message ?? null} />
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">guaranteed</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
          </tr>
        </thead>
        <tbody>
          <Line title="Down" limit={limits.downWithin} figures={measured?.down} />
          <Line title="First alert" limit={limits.messageWithin} figures={measured?.message} />
        </tbody>
      </table>
    </li>
  )
}

type LineParts = { title: string; limit: number; figures: Percentiles | undefined }

const Line = ({ title, limit, figures }: LineParts) => (
  <tr>
    <th scope="row">{title}</th>
    <td class="guaranteed">{formatSeconds(limit)}</td>
    {(['p50', 'p95', 'p99'] as const).map(name => (
      <Figure key={name} seconds={figures?.[name]} limit={limit} />
    ))}
  </tr>
)

/**
 * `seconds` undefined: not measured; null: never. A figure over the guarantee differs in weight, not only in colour.
 */
function Figure({ seconds, limit }: { seconds: number | null | undefined; limit: number }) {
  if (seconds === undefined) return <td class="none">–</td>
  const isOver = seconds === null || roundUpToTenth(seconds) > roundUpToTenth(limit)
  return <td class={isOver ? 'over' : undefined}>{seconds === null ? 'never' : formatSeconds(seconds)}</td>
}

const LastMiss = ({ trust: { lastMiss, compared } }: { trust: TrustReport }) => (
  <section>
    <h2>The last miss</h2>
    {lastMiss ? (
      <p class="miss">
        <StatusIcon sign="d" />
        <span>
          <b>
            <Moment at={lastMiss.startedAt.toISOString()} />
          </b>
          {`, ${FAILURE_LABELS[lastMiss.kind][0].toLowerCase()}: ${formatDelay(lastMiss)}`}
        </span>
      </p>
    ) : (
      <p class="quiet">
        {compared === 0
          ? 'No planned outage has been compared with the guarantee yet.'
          : `None in the last ${TRUST_DAYS} days.`}
      </p>
    )}
  </section>
)

const Method = ({ trust: { pace } }: { trust: TrustReport }) => (
  <section>
    <h2>How this is measured</h2>
    <div class="method">
      <p>
        Test targets fail on purpose, on a schedule, day and night. Ordinary monitors check them: {formatSettings(pace)}
        . “Down” is the time at which the status is stored. “First alert” is the time at which a webhook receives the
        alert.
      </p>
      <p>
        The guarantee is computed from these settings, for an outage that begins just after a check. It holds while
        NATS, PostgreSQL, the control plane and the probes that check the targets work. The measurements include times
        when they did not. An outage that was not detected counts as the slowest.
      </p>
    </div>
  </section>
)
