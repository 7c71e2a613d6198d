import { computeReconnectDelayMs } from '../../probe-agent/fleet/reconnect-delay.ts'
import { type ProbeWork, startProbeWork } from '../../probe-agent/schedule/work.ts'
import type { Hello, ProbeMessage } from '../../proto/gen/probe/v1/fleet.ts'
import type { Log } from '../../shared/process/log.ts'
import { createRemoteClock } from '../../shared/process/remote-clock.ts'
import type { Random } from '../chaos/random.ts'
import { type ActiveFaults, isFleetReachable, type ProbeConditions } from './conditions.ts'
import { CAPABILITIES } from './database.ts'
import type { FleetProcess, ProbeConnection } from './fleet.ts'
import type { JetStream } from './jetstream.ts'
import { createRunner, type SimulatedTargets } from './targets.ts'
import { createHost, type Host, type Time } from './time.ts'
import { createTransport, type SimulatedTransport } from './transport.ts'

/** The environment that all probes share. */
export type ProbeEnvironment = {
  time: Time
  activeFaults: ActiveFaults
  stream: JetStream
  targets: SimulatedTargets
  random: Random
  log: Log
  /** the processes of the control plane that accept connections now */
  processes: () => FleetProcess[]
}

type ProbeParts = ProbeEnvironment & {
  name: string
  /** its id in the control plane */
  probeId: string
  region: string
  /** one-way, in ms */
  latencyMs: number
}

/** A process of a probe, from its start to its end. */
export type ProbeProcess = {
  host: Host
  /** Hands over its work and exits. */
  drain: (onEnd: () => void) => void
  /** `isSilent`: its host has failed, so its connections are not closed */
  end: (isSilent: boolean) => void
}

const HEARTBEAT_MS = 3_000
const DEAD_AFTER_MS = 10_000
const CONNECT_FAILS_AFTER_MS = 20
const HAND_OVER_WITHIN_MS = 3_000
const DRAIN_WITHIN_MS = 65_000
const POLL_EVERY_MS = 100

export function startProbeProcess(parts: ProbeParts): ProbeProcess {
  const { time, activeFaults, stream, targets, random, log, name, probeId, region, latencyMs, processes } = parts
  const host = createHost(time, random)
  const { machine } = host
  const conditions: ProbeConditions = {
    own: activeFaults.getConditions(name),
    region: activeFaults.getConditions(region),
  }
  const clock = createRemoteClock(machine.monotonicMs)
  const { run, isOnline } = createRunner({ targets, region, conditions, host, random, time, activeFaults })
  const instanceId = machine.uuid()
  let session: ProbeConnection | null = null
  let failures = 0
  let transport: SimulatedTransport | null = null
  let work: ProbeWork | null = null

  const isReached = () => isFleetReachable(conditions)
  const send = (body: NonNullable<ProbeMessage['body']>) => {
    const to = session
    if (to) time.after(latencyMs, () => isReached() && to.send(body))
  }

  function connect(): void {
    if (session) return
    const [process] = random.shuffled(processes())
    if (!isReached() || !process) {
      retry(isReached() ? CONNECT_FAILS_AFTER_MS : DEAD_AFTER_MS)
      return
    }
    const hello: Hello = {
      instanceId,
      name,
      version: '1',
      lastRevision: 0,
      ...work?.getRevision(),
      capabilities: CAPABILITIES,
    }
    let lastMessageMs = machine.monotonicMs()
    const opened = process.connect({
      probeId,
      region,
      name,
      hello,
      latencyMs,
      isReached,
      deliver: (ms, take) => machine.after(ms, take),
      onWelcome(welcome) {
        failures = 0
        lastMessageMs = machine.monotonicMs()
        transport ??= createTransport({
          ...{ time, host, activeFaults, conditions, stream, random, latencyMs, log, probeId, region },
          onLate: monitorId => work?.markLate(monitorId),
        })
        work ??= startProbeWork({
          welcome,
          transport: transport.transport as never,
          clock,
          run,
          sendRunDone: value => send({ $case: 'runDone', value }),
          sendSilent: value => send({ $case: 'silent', value }),
          capture: null,
          sendScreenshotWanted() {},
          compareEveryMs: 0,
          maxConcurrentChecks: 1_000,
          log,
          timers: machine,
        })
        work.welcome(welcome)
        sendHeartbeat()
      },
      onMessage(body) {
        lastMessageMs = machine.monotonicMs()
        work?.receive(body)
      },
      onEnd: () => end(opened),
    })
    session = opened

    /** Sends a heartbeat. Its answer contains JetStream's time. */
    function sendHeartbeat(): void {
      if (session !== opened) return
      machine.after(HEARTBEAT_MS, sendHeartbeat)
      const sentMs = machine.monotonicMs()
      if (isReached() && opened.isOpen()) {
        const remoteMs = opened.sendHeartbeat({
          latencyMs,
          natsAwayMs: transport?.publisher.awayMs() ?? 0,
          isOnline: isOnline(),
        })
        lastMessageMs = sentMs + 2 * latencyMs
        if (remoteMs === null || !hasNewOffset(remoteMs - sentMs)) return
        machine.after(2 * latencyMs, () => {
          const movedMs = clock.learn(sentMs, sentMs + 2 * latencyMs, remoteMs + latencyMs)
          work?.clockLearned(movedMs)
        })
      } else if (sentMs - lastMessageMs > DEAD_AFTER_MS - HEARTBEAT_MS) {
        machine.after(Math.max(0, lastMessageMs + DEAD_AFTER_MS - sentMs), () => {
          if (machine.monotonicMs() - lastMessageMs >= DEAD_AFTER_MS) end(opened)
        })
      }
    }
    machine.after(DEAD_AFTER_MS, () => {
      if (machine.monotonicMs() - lastMessageMs >= DEAD_AFTER_MS) end(opened)
    })
  }

  let knownAheadMs: number | null = null
  /** Whether the clock offset has changed. */
  function hasNewOffset(aheadMs: number): boolean {
    const isNew = knownAheadMs === null || Math.abs(aheadMs - knownAheadMs) > 1
    knownAheadMs = aheadMs
    return isNew
  }

  function end(ended: ProbeConnection): void {
    if (ended !== session) return
    session = null
    ended.close()
    retry(0)
  }

  function retry(afterMs: number): void {
    failures++
    machine.after(afterMs + computeReconnectDelayMs(failures, false, machine.random()), connect)
  }

  connect()
  return {
    host,
    end(isSilent) {
      host.end()
      if (!isSilent) session?.abort()
    },
    drain(onEnd) {
      work?.stopOnDemandChecks()
      send({ $case: 'draining', value: {} })
      const untilMs = machine.monotonicMs() + HAND_OVER_WITHIN_MS
      const finish = () => {
        host.end()
        session?.abort()
        onEnd()
      }
      const stop = () => {
        machine.after(DRAIN_WITHIN_MS, finish)
        const closing = (work?.drain() ?? Promise.resolve()).then(() => transport?.publisher.close())
        void closing.then(() => host.isAlive() && finish())
        time.settled()
      }
      machine.after(POLL_EVERY_MS, function poll() {
        if (work && work.monitors() > 0 && session && machine.monotonicMs() < untilMs)
          machine.after(POLL_EVERY_MS, poll)
        else stop()
      })
    },
  }
}
