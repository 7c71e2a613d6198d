import type { ComponentView, DayView } from '../types.ts'
import { SIGNS, type Sign } from '../words.ts'
import type { Template } from './page.ts'
import { ComponentName, Components, type Row } from './parts/components.tsx'
import { barLabel, runsOf } from './parts/day-runs.ts'
import { Days } from './parts/days.tsx'
import { Footer, Masthead, Overall, StaleNotice, Subscribe } from './parts/frame.tsx'
import { OpenIncidents } from './parts/incidents.tsx'
import { Maintenance } from './parts/maintenance.tsx'
import { PastIncidents } from './parts/past.tsx'
import { msText } from './parts/response-chart.tsx'
import { StatusMark } from './parts/signs.tsx'
import { sparkline } from './parts/sparkline.ts'

/** What a shell would print. */
export const terminal: Template = {
  voice: name => ({
    components: 'status --days 90',
    noComponents: `${name}: no components registered`,
    openIncidents: 'incidents --open',
    maintenance: 'maintenance --upcoming',
    pastIncidents: 'incidents --log --days 14',
    quiet: 'no incidents',
    subscribe: 'subscribe',
  }),
  Layout: page => (
    <>
      <header class="top">
        <Masthead page={page} />
        <Subscribe page={page} />
      </header>
      <main>
        <StaleNotice page={page} />
        <Overall page={page} />
        <OpenIncidents page={page} />
        <Components page={page} row={Line} />
        <Maintenance page={page} />
        <PastIncidents page={page} />
        <p class="prompt" aria-hidden="true">
          <span class="cursor" />
        </p>
      </main>
      <Footer page={page} />
    </>
  ),
}

const Line: Row = ({ component }) => (
  <li class="component" id={`c-${component.id}`}>
    <ComponentName component={component} />
    <StatusMark status={component.status} />
    <Days component={component} bar={TextBar} />
    <Latency component={component} />
  </li>
)

const GLYPHS: Record<Sign, string> = { o: '|', d: ':', x: 'x', m: '~', u: '.' }

/** A character a day. */
const TextBar = ({ days }: { days: readonly DayView[] }) => (
  <span class="bar" role="img" aria-label={barLabel(days)}>
    {runsOf(days).map(({ status, from, to }) => (
      <span class={SIGNS[status]}>{GLYPHS[SIGNS[status]].repeat(to - from + 1)}</span>
    ))}
  </span>
)

function Latency({ component: { responseTimes } }: { component: ComponentView }) {
  const values = responseTimes?.map(({ medianMs }) => medianMs) ?? []
  const latest = values.findLast(value => value !== null)
  if (latest === undefined || latest === null) return null
  return (
    <p class="latency">
      response <span aria-hidden="true">{sparkline(values)}</span> {msText(latest)}
    </p>
  )
}
