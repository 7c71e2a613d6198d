import type { Server } from 'node:http'
import type { LocalInstallation } from '../start/installation.ts'
import { run } from '../start/run.ts'
import { LOCAL_REGIONS } from '../start/settings.ts'
import { createDemoApi, type DemoApi, type DemoTransition } from './demo-api.ts'
import { startDemoTarget, startWebhookReceiver } from './demo-servers.ts'

const TURN_MS = 40_000
const LOOK_MS = 500

/**
 * `npm run demo`: everything of `npm start`, a target that goes down and up by itself, and a webhook receiver. Prints
 * what the target does, each transition as the API tells it, and each webhook with its signature checked.
 */
export const demo = () => run(startDemo)

async function startDemo(picket: LocalInstallation): Promise<() => Promise<void>> {
  const say = (kind: string, text: string) =>
    console.log(`${new Date().toTimeString().slice(0, 8)}  ${kind.padEnd(11)}${text}`)
  const api = createDemoApi(picket.settings.publicUrl, await picket.demoKey())
  await api.removeAll()

  const target = await startDemoTarget()
  const receiver = await startWebhookReceiver(({ event, data, isSigned, attempt }) => {
    const what = data?.monitor ? `${data.monitor.name} is ${data.monitor.status}` : ''
    const lasted = data?.down_duration ? `, it was down for ${data.down_duration}` : ''
    say('webhook', `${event}  ${what}${lasted}  (signature ${isSigned ? 'verified' : 'WRONG'}${attempt})`)
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
It goes down and comes back every ${TURN_MS / 1000} s; a second failure in a row counts. Ctrl-C stops everything.\n`)

  const turning = setInterval(() => {
    target.toggle()
    say('target', target.isUp() ? 'answers 200 again' : 'answers 503 from now on')
  }, TURN_MS)
  const watching = watchTransitions(api, monitorId, transition => say('transition', describe(transition)))
  return async () => {
    clearInterval(turning)
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
  tell: (transition: DemoTransition) => void,
): { stop(): void } {
  const told = new Set<string>()
  let isStopped = false
  const look = async () => {
    const transitions = await api.transitions(monitorId).catch(() => [])
    for (const transition of transitions.reverse()) {
      if (!told.has(transition.id) && !isStopped) tell(transition)
      told.add(transition.id)
    }
    if (!isStopped) setTimeout(look, LOOK_MS)
  }
  look()
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
