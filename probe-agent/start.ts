import { accessSync, constants, mkdirSync } from 'node:fs'
import type { Hello, Welcome } from '../proto/gen/probe/v1/fleet.ts'
import { CHECK_TYPES, type CheckSpec } from '../shared/check.ts'
import { type Cancellation, createEgress } from '../shared/egress/index.ts'
import { nowUs } from '../shared/egress/monotonic.ts'
import { ConfigError } from '../shared/env.ts'
import type { Log } from '../shared/log.ts'
import { createRemoteClock } from '../shared/remote-clock.ts'
import { machine } from './clock.ts'
import type { ProbeConfig } from './config.ts'
import { openCredential } from './credential.ts'
import { createDoubt } from './doubt.ts'
import { connectFleet } from './fleet-client.ts'
import { createHealth } from './health.ts'
import { announceIcmp } from './icmp-way.ts'
import { hasIpv6 } from './ipv6-way.ts'
import { serveOperations } from './operations.ts'
import { openPost, type Post } from './post.ts'
import { type Ran, runCheck } from './run.ts'
import { findBrowser } from './screenshots/find-browser.ts'
import { sweepHomes } from './screenshots/homes.ts'
import { openSandbox } from './screenshots/sandbox.ts'
import { createShutter } from './screenshots/shutter.ts'
import { createSelfTest } from './self-test.ts'
import { createTally } from './tally.ts'
import { startWork, type Work } from './work.ts'

export type Probe = {
  /** Hands its work over, lets running checks end (65 s at most), and sends or spools what they saw. */
  stop: () => Promise<void>
}

const SELF_TEST_EVERY_MS = 5000
/** The control plane takes a leaving probe's work away within a second; without it nobody does. */
const HAND_OVER_WITHIN_MS = 3000
/** The longest timeout a check may have, and time for its assertions. */
const DRAIN_WITHIN_MS = 65_000

/**
 * control plane ──assignments──> work: watches -> loop -> run ──result──> post: publish | spool -> JetStream
 *
 * @param onMoved the control plane gave this probe another region: it has to be started anew
 */
export function startProbe(config: ProbeConfig, log: Log, onMoved: () => void): Probe {
  makeDataDir(config.dataDir)
  const credential = openCredential(config.dataDir, config.token, machine.secret)
  const egress = createEgress({ allow: config.egressAllow, deny: config.egressDeny })
  const canPing = announceIcmp(egress.icmp, log)
  const selfTest = createSelfTest({ targets: config.selfTestTargets })
  const doubt = createDoubt((isDoubting, hosts) => reportDoubt(log, isDoubting, hosts))
  const isDoubting = () => doubt.isDoubting(nowUs())
  const stopTesting = machine.every(SELF_TEST_EVERY_MS, () => {
    void selfTest.probe(AbortSignal.timeout(SELF_TEST_EVERY_MS))
  })
  const clock = createRemoteClock(machine.monotonicMs)
  const instanceId = machine.uuid()
  const browser = findBrowser(config.chromiumPath)
  if (browser) sweepHomes().catch(error => log.warn({ err: error }, 'folders of old browsers could not be removed'))
  const { egressAllow, egressDeny, screenshotMemoryMb: memoryMb, screenshotWithinMs: withinMs } = config
  const { screenshotNoSandbox: mayLackSandbox } = config
  const sandbox = browser && openSandbox(mayLackSandbox, log)
  const canPhotograph = mayLackSandbox || sandbox?.works() !== false
  const settings = { egressAllow, egressDeny, mayLackSandbox, memoryMb, withinMs, onSandbox: sandbox?.learn }
  const shutter = browser && canPhotograph ? createShutter({ browser, ...settings }) : null
  let post: Post | null = null
  let work: Work | null = null
  let isDraining = false
  const tally = createTally()

  if (config.fleetTls === null && !/^(127\.|localhost:|\[::1\])/.test(config.fleetUrl)) {
    log.warn('the control plane is spoken to in plain text, with the secrets of monitors on the way: set FLEET_TLS=on')
  }
  const fleet = connectFleet({
    url: config.fleetUrl,
    tls: config.fleetTls,
    credential,
    machine,
    clock,
    log,
    hello,
    load: () => health.heartbeat(),
    onWelcome: welcome,
    onMessage: body => {
      if (body.$case === 'natsCredentials') post?.renew(body.value.credentials)
      else work?.receive(body)
    },
    onClock: movedMs => work?.clockLearned(movedMs),
  })
  const health = createHealth({
    post: () => post,
    work: () => work,
    checks: tally.rows,
    isFleetLinked: fleet.isLinked,
    isDraining: () => isDraining,
    isOnline: selfTest.isOnline,
    isDoubting,
    sandboxWorks: () => sandbox?.works() ?? null,
    clock,
    machine,
    runningLimit: config.maxConcurrentChecks,
  })
  const { metricsAddress: address } = config
  const closeOperations = address && serveOperations({ ...health, address, log })

  function hello(): Hello {
    const { name, version } = config
    const types = CHECK_TYPES.filter(type => type !== 'ping' || canPing)
    const capabilities = [
      ...types,
      ...(shutter ? ['screenshot', 'screenshot_permit'] : []),
      ...(hasIpv6() ? ['ipv6'] : []),
    ]
    return { instanceId, name, version, ...(work?.has() ?? { lastRevision: 0 }), capabilities }
  }

  function welcome(message: Welcome): void {
    if (work && work.region !== message.region) {
      log.error({ from: work.region, to: message.region }, 'this probe was moved to another region; it stops')
      onMoved()
      return
    }
    post ??= openPost(config, message, monitorId => work?.becameLate(monitorId), log)
    work ??= startWork({
      welcome: message,
      post,
      clock,
      run: check,
      sendRunDone: value => fleet.send({ $case: 'runDone', value }),
      sendSilent: value => fleet.send({ $case: 'silent', value }),
      shutter,
      sendScreenshotWanted: value => fleet.send({ $case: 'screenshotWanted', value }),
      compareEveryMs: config.compareEveryMs,
      maxConcurrentChecks: config.maxConcurrentChecks,
      log,
    })
    work.welcome(message)
  }

  async function check(spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean): Promise<Ran> {
    const ran = await runCheck(spec, egress, { selfTest, doubt, cancellation, isOfOthers })
    if (!cancellation?.isCancelled) tally.count(spec.type, ran.outcome)
    return ran
  }

  /** Slots go on until others have them, so that none is missed. */
  async function handOver(): Promise<void> {
    work?.leave()
    fleet.send({ $case: 'draining', value: {} })
    const untilMs = machine.monotonicMs() + HAND_OVER_WITHIN_MS
    while (fleet.isOpen() && work && work.monitors() > 0 && machine.monotonicMs() < untilMs) await machine.pause(20)
  }

  async function stop(): Promise<void> {
    log.info({ event: 'draining' }, 'stopping: the work is handed over, running checks end')
    isDraining = true
    await handOver()
    await Promise.race([work?.drain(), machine.pause(DRAIN_WITHIN_MS)])
    await post?.close()
    await fleet.close()
    stopTesting()
    closeOperations?.()
    log.info({ event: 'stopped' }, 'stopped')
  }

  return { stop }
}

function reportDoubt(log: Log, isDoubting: boolean, hosts: number): void {
  if (isDoubting)
    log.warn({ event: 'doubt', hosts }, 'many hosts began to fail at once; failures are reported as doubted')
  else log.info({ event: 'doubt_over', hosts }, 'failures are reported without doubt again')
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new ConfigError(`DATA_DIR "${dataDir}" cannot be written: ${(error as Error).message}`)
  }
}
