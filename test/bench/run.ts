/** `npm run bench [part …]`: measures the figures of docs/benchmarks.md on this machine and writes them there. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { build } from '../../tools/build/build.mjs'
import type { Teardown } from '../support/teardown.ts'
import { benchAlerting } from './alerting.ts'
import { benchApi } from './api.ts'
import { benchHttps } from './check-cpu.ts'
import { benchCorrelated } from './correlated.ts'
import { benchDashboard } from './dashboard.ts'
import { benchDataSources } from './data-sources.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchDetection } from './detection.ts'
import { replaceHighlights, replacePart, toRow } from './document.ts'
import { benchEndToEnd } from './end-to-end.ts'
import { benchEventStreams } from './event-streams.ts'
import { benchFailover } from './failover.ts'
import { benchFanOut } from './fan-out.ts'
import { benchFleet } from './fleet.ts'
import { benchHealthyHour } from './healthy-hour.ts'
import { benchHeartbeats } from './heartbeats.ts'
import { benchHourly } from './hourly.ts'
import { benchIdle } from './idle.ts'
import { benchImport } from './import.ts'
import { benchIngest } from './ingest.ts'
import { benchMonitorsList } from './monitors-list.ts'
import { benchPageEditor } from './page-editor.ts'
import { benchPartitions } from './partitions.ts'
import { benchPingFigures } from './ping.ts'
import { benchBlackHoles, benchProbeFigures } from './probe.ts'
import { benchRegex } from './regex.ts'
import { benchRestart } from './restart.ts'
import { type Engines, type Figure, startDurableEngines, withTeardown } from './rig.ts'
import { benchScale } from './scale.ts'
import { benchSnapshot } from './snapshot.ts'
import { benchSoak } from './soak.ts'
import { benchStalls } from './stalls.ts'
import { benchStatusPage } from './status-page.ts'
import { benchStatusPageBrowser } from './status-page-browser.ts'
import { benchTenants } from './tenants.ts'
import { benchYear } from './year.ts'

const PARTS: Record<string, (t: Teardown, engines: Engines) => Promise<Figure[]>> = {
  probe: benchProbeFigures,
  'black-holes': benchBlackHoles,
  https: benchHttps,
  regex: benchRegex,
  ping: benchPingFigures,
  'end-to-end': benchEndToEnd,
  idle: benchIdle,
  ingest: benchIngest,
  hourly: benchHourly,
  alerting: benchAlerting,
  correlated: benchCorrelated,
  detection: benchDetection,
  deliveries: benchDeliveries,
  heartbeats: benchHeartbeats,
  'data-sources': benchDataSources,
  'monitors-list': benchMonitorsList,
  dashboard: benchDashboard,
  'page-editor': benchPageEditor,
  import: benchImport,
  'event-streams': benchEventStreams,
  api: benchApi,
  stalls: benchStalls,
  tenants: benchTenants,
  'fan-out': benchFanOut,
  fleet: benchFleet,
  failover: benchFailover,
  snapshot: benchSnapshot,
  partitions: benchPartitions,
  restart: benchRestart,
  scale: benchScale,
  'status-page': benchStatusPage,
  'status-page-browser': benchStatusPageBrowser,
  year: benchYear,
  soak: benchSoak,
  'healthy-hour': benchHealthyHour,
}

/** Parts that run only when they are named. */
const LONG_PARTS = ['healthy-hour', 'soak']

const asked = process.argv.slice(2)
const names = asked.length > 0 ? asked : Object.keys(PARTS).filter(name => !LONG_PARTS.includes(name))
const unknown = names.find(name => !PARTS[name])
if (unknown) {
  console.error(`unknown part "${unknown}"; the parts are ${Object.keys(PARTS).join(', ')}`)
  process.exit(1)
}

await build()
const [cpu] = cpus()
const machine = `${cpus().length} cores, ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${process.platform}`
console.log(`${machine}\n`)
console.log('| what | measured | aim | |\n|---|---|---|---|')
await withTeardown(async t => {
  const engines = await startDurableEngines(t)
  for (const name of names) {
    const figures = await withTeardown(part => PARTS[name]!(part, engines))
    for (const figure of figures) console.log(toRow(figure))
    writeFigures(name, figures)
  }
})

/** Writes the figures to docs/benchmarks.md, and the rows that README.md repeats to README.md. */
function writeFigures(part: string, figures: Figure[]): void {
  const [document, readme] = ['docs/benchmarks.md', 'README.md'].map(path => join(import.meta.dirname, '../..', path))
  const date = new Date().toISOString().slice(0, 10)
  const written = replacePart(readFileSync(document!, 'utf8'), part, figures, { date, machine })
  writeFileSync(document!, written)
  writeFileSync(readme!, replaceHighlights(readFileSync(readme!, 'utf8'), written))
}
