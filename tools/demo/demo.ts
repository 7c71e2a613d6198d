import type { Server } from 'node:http'
import type { LocalInstallation } from '../start/installation.ts'
import { run } from '../start/run.ts'
import { LOCAL_REGIONS } from '../start/settings.ts'
import { createDemoApi, type DemoApi, type DemoTransition } from './demo-api.ts'
import { startDemoTarget, startWebhookReceiver } from './demo-servers.ts'

const TOGGLE_INTERVAL_MS = 40_000
const POLL_INTERVAL_MS = 500

/**
 * `npm run demo`: everything that `npm start` starts, a target that goes down and up by itself, and a webhook receiver.
 * Prints the changes of the target, each transition from the API, and each webhook with the result of its signature check.
 */
export const demo = () => run(startDemo)

async function startDemo(picket: LocalInstallation): Promise<() => Promise<void>> {
  const print = (kind: string, text: string) =>
    console.log(`${new Date().toTimeString().slice(0, 8)}  ${kind.padEnd(11)}${text}`)
  const api = createDemoApi(picket.settings.publicUrl, await picket.demoKey())
  await api.removeAll()

  const target = await startDemoTarget()
  const receiver = await startWebhookReceiver(({ event, data, isSigned, attempt }) => {
    const what = data?.monitor ? `${data.monitor.name} is ${data.monitor.status}` : ''
    const duration = data?.down_duration ? `, it was down for ${data.down_duration}` : ''
    print('webhook', `${event}  ${what}${duration}  (signature ${isSigned ? 'verified' : 'WRONG'}${attempt})`)
  })
  const monitorId = await api.createMonitor({
    name: 'Demo target',
    type: 'http',
    url: target.url,
    interval_seconds: 30,
    timeout_ms: 5_000,
    retry_count: 1,
    regions: LOCAL_REGIONS,
  })
  const channel = await api.createWebhook('Demo receiver', receiver.url)
  receiver.setSigningSecret(channel.signingSecret)
  await api.createRule({ monitor_id: monitorId, alert_channel_id: channel.id, on_degraded: true })

  console.log(`\nReady at ${picket.settings.publicUrl}  (reference ${picket.settings.publicUrl}/docs)
The demo's API key: ${await picket.demoKey()}

${target.url} is checked every 30 s from ${LOCAL_REGIONS.join(', ')}.
It goes down and recovers every ${TOGGLE_INTERVAL_MS / 1000} s; two failures in a row are an outage. Ctrl-C stops everything.\n`)

  const toggling = setInterval(() => {
    target.toggle()
    print('target', target.isUp() ? 'answers 200 again' : 'answers 503')
  }, TOGGLE_INTERVAL_MS)
  const watching = watchTransitions(api, monitorId, transition => print('transition', describe(transition)))
  return async () => {
    clearInterval(toggling)
    watching.stop()
    await Promise.all([target.server, receiver.server].map(close))
  }
}

function describe({ from, to, at, summary }: DemoTransition): string {
  return `${from ?? 'new'} → ${to}  at ${at.slice(11, 23)}${summary ? `  ${summary}` : ''}`
}

function watchTransitions(
  api: DemoApi,
  monitorId: string,
  onTransition: (transition: DemoTransition) => void,
): { stop(): void } {
  const printed = new Set<string>()
  let isStopped = false
  const poll = async () => {
    const transitions = await api.transitions(monitorId).catch(() => [])
    for (const transition of transitions.reverse()) {
      if (!printed.has(transition.id) && !isStopped) onTransition(transition)
      printed.add(transition.id)
    }
    if (!isStopped) setTimeout(poll, POLL_INTERVAL_MS)
  }
  poll()
  return {
    stop: () => {
      isStopped = true
    },
  }
}

const close = (server: Server) =>
  new Promise<void>(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
