import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { readText } from './deployment.ts'
import { startProgram } from './processes.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

type Prometheus = {
  /** names of the firing alerts, sorted, without duplicates */
  firing(): Promise<string[]>
  /** the number of samples of a series */
  samples(series: string): Promise<number>
}

/** Rates need several samples, and some gauges change only every ten seconds. */
const MIN_RANGE_S = 15
/** Some loops run every 30 seconds. With a shorter range the rule about loops without a round fires while nothing is wrong. */
const MIN_RANGE_OF_ROUNDS_S = 60
const ROUNDS = 'increase(picket_loop_rounds_total{'
const SECONDS = { s: 1, m: 60, h: 3_600 }
const inSeconds = (number: string, unit: string) => Number(number) * SECONDS[unit as keyof typeof SECONDS]

/** The rules for operators, with all times shortened. */
const shortenTimes = (rules: string): string =>
  rules
    .replace(/for: (\d+)([smh])\b/g, (_, n, unit) => `for: ${Math.ceil(inSeconds(n, unit) / 60)}s`)
    .split('\n')
    .map(line => {
      const shortestS = line.includes(ROUNDS) ? MIN_RANGE_OF_ROUNDS_S : MIN_RANGE_S
      const shorten = (seconds: number) => Math.max(shortestS, seconds / 20)
      return line
        .replace(/\[(\d+)([smh])\]/g, (_, n, unit) => `[${shorten(inSeconds(n, unit))}s]`)
        .replace(/\} offset (\d+)([smh])/g, (_, n, unit) => `} offset ${shorten(inSeconds(n, unit))}s`)
        .replace(/(process_start_time_seconds\{[^}]*\}) < (\d+)/g, (_, age, n) => `${age} < ${shorten(Number(n))}`)
    })
    .join('\n')

/** The log line with the port that it uses. */
const LISTENING = /"Listening on" address=(\S+)/

/**
 * Starts a Prometheus on loopback, which scrapes control planes and evaluates the alert rules: every second with shortened
 * rules, or at the given interval with the original rules.
 */
export async function startPrometheus(
  t: Teardown,
  controlPlanes: string[],
  { scrapeSeconds = null }: { scrapeSeconds?: number | null } = {},
): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-prometheus-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const rules = readText('deploy/monitoring/alerts.yaml')
  const interval = `${scrapeSeconds ?? 1}s`
  writeFileSync(join(dir, 'alerts.yaml'), scrapeSeconds === null ? shortenTimes(rules) : rules)
  const config = {
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: ['alerts.yaml'],
    scrape_configs: [{ job_name: 'picket', static_configs: [{ targets: controlPlanes }] }],
  }
  writeFileSync(join(dir, 'prometheus.yaml'), JSON.stringify(config))
  const program = startProgram(t, {
    program: '/usr/bin/prometheus',
    args: [
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
  })
  const listening = () => program.lines.map(({ text }) => LISTENING.exec(text)?.[1]).find(found => found !== undefined)
  const address = await waitFor(listening, {
    label: () => `a prometheus that listens, after ${inspect(program.lines)}`,
  })
  const ask = async (path: string) => (await (await fetch(`http://${address}${path}`)).json()).data
  await waitFor(async () => (await fetch(`http://${address}/-/ready`)).ok, { label: 'prometheus', everyMs: 100 })
  return {
    async firing() {
      const { alerts } = await ask('/api/v1/alerts')
      const names: string[] = alerts
        .filter(({ state }: { state: string }) => state === 'firing')
        .map(({ labels }: { labels: { alertname: string } }) => labels.alertname)
      return [...new Set(names)].sort()
    },
    async samples(series) {
      const query = encodeURIComponent(`sum(count_over_time(${series}[1h]))`)
      return Number((await ask(`/api/v1/query?query=${query}`)).result[0]?.value[1] ?? 0)
    },
  }
}
