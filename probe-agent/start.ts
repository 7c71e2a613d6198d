import { accessSync, constants, mkdirSync } from 'node:fs'
import type { Hello, Welcome } from '../proto/gen/probe/v1/fleet.ts'
import { CHECK_TYPES, type CheckSpec } from '../shared/checks/check.ts'
import { createEgress, type Icmp } from '../shared/egress/index.ts'
import { nowUs, wallMs } from '../shared/egress/monotonic.ts'
import type { Egress } from '../shared/egress/types.ts'
import { ConfigError } from '../shared/process/env.ts'
import type { Log } from '../shared/process/log.ts'
import { createRemoteClock, type RemoteClock } from '../shared/process/remote-clock.ts'
import { type CancelTimer, machine } from './clock.ts'
import type { ProbeConfig } from './config.ts'
import { createDoubtDetector, type DoubtDetector } from './execution/own-faults/doubt.ts'
import { createSelfTest, type SelfTest } from './execution/own-faults/self-test.ts'
import { type CheckExecution, type CheckRunOptions, runCheck } from './execution/run-check.ts'
import { openCredential } from './fleet/credential.ts'
import { connectFleet, type FleetConnection, type FleetMessageBody } from './fleet/fleet-client.ts'
import { hasIpv6 } from './fleet/ipv6.ts'
import { type CheckCounters, createCheckCounters } from './health/check-counters.ts'
import { createProbeHealth } from './health/health.ts'
import { serveOperations } from './health/operations.ts'
import { openResultTransport, type ResultTransport } from './results/result-transport.ts'
import { type ProbeWork, startProbeWork } from './schedule/work.ts'
import { createScreenshotCapture, type ScreenshotCapture } from './screenshots/capture.ts'
import { removeStaleProfiles } from './screenshots/chromium/browser-profile.ts'
import { findBrowser } from './screenshots/chromium/find-browser.ts'
import { openSandbox } from './screenshots/chromium/sandbox.ts'

type RunningProbe = {
  /** Hands its monitors over, waits for running checks (at most 65 s), and sends or spools their results. */
  stop: () => Promise<void>
}

const SELF_TEST_INTERVAL_MS = 5000
/** The control plane normally removes the assignments of a draining probe within a second. */
const HAND_OVER_TIMEOUT_MS = 3000
/** The longest timeout a check may have, and time for its assertions. */
const DRAIN_TIMEOUT_MS = 65_000

/** What the functions of the probe share. */
type Probe = {
  config: ProbeConfig
  log: Log
  instanceId: string
  egress: Egress
  canPing: boolean
  selfTest: SelfTest
  doubt: DoubtDetector
  clock: RemoteClock
  checkCounters: CheckCounters
  /** `capture` null: no browser on this machine, or it may not run without its sandbox */
  screenshots: { capture: ScreenshotCapture | null; sandboxWorks: () => boolean | null }
  /** null until the first welcome message */
  transport: ResultTransport | null
  work: ProbeWork | null
  isDraining: boolean
  stopTesting: CancelTimer
}

/**
 * Starts the probe and connects its parts.
 *
 * control plane ──assignments──> schedule: monitors -> loop -> check ──result──> transport: publish | spool -> JetStream
 *
 * @param onMoved the control plane has assigned this probe to another region; the probe has to be restarted
 */
export function startProbe(config: ProbeConfig, log: Log, onMoved: () => void): RunningProbe {
  makeDataDir(config.dataDir)
  const credential = openCredential(config.dataDir, config.token, machine.secret)
  const probe = createProbe(config, log)
  const { clock, selfTest, doubt } = probe
  warnIfUnencrypted(config, log)
  const fleet = connectFleet({
    url: config.fleetUrl,
    tls: config.fleetTls,
    credential,
    machine,
    clock,
    log,
    hello: () => buildHello(probe),
    load: () => health.heartbeat(),
    onWelcome: message => welcome(probe, fleet, message, onMoved),
    onMessage: body => receive(probe, body),
    onClock: movedMs => probe.work?.clockLearned(movedMs),
  })
  const health = createProbeHealth({
    transport: () => probe.transport,
    work: () => probe.work,
    checks: probe.checkCounters.list,
    isFleetLinked: fleet.isLinked,
    isDraining: () => probe.isDraining,
    isOnline: selfTest.isOnline,
    isDoubting: () => doubt.isDoubting(nowUs()),
    sandboxWorks: probe.screenshots.sandboxWorks,
    clock,
    machine,
    runningLimit: config.maxConcurrentChecks,
  })
  const { metricsAddress: address } = config
  const closeOperations = address && serveOperations({ ...health, address, log })
  return {
    async stop() {
      await drain(probe, fleet)
      closeOperations?.()
      log.info({ event: 'stopped' }, 'stopped')
    },
  }
}

function createProbe(config: ProbeConfig, log: Log): Probe {
  const egress = createEgress({ allow: config.egressAllow, deny: config.egressDeny })
  const canPing = detectIcmpSupport(egress.icmp, log)
  const selfTest = createSelfTest({ targets: config.selfTestTargets })
  const probe: Probe = {
    config,
    log,
    egress,
    canPing,
    selfTest,
    doubt: createDoubtDetector((isDoubting, hosts) => reportDoubt(log, isDoubting, hosts)),
    stopTesting: machine.every(SELF_TEST_INTERVAL_MS, () => void selfTest.run(hasNoMonitors(probe))),
    clock: createRemoteClock(machine.monotonicMs),
    instanceId: machine.uuid(),
    screenshots: prepareScreenshots(config, log),
    checkCounters: createCheckCounters(),
    transport: null,
    work: null,
    isDraining: false,
  }
  return probe
}

const hasNoMonitors = ({ work }: Probe) => work !== null && work.monitors() === 0

/** Finds the browser and its sandbox, and removes the profiles of earlier browsers. */
function prepareScreenshots(config: ProbeConfig, log: Log): Probe['screenshots'] {
  const browser = findBrowser(config.chromiumPath)
  if (browser)
    removeStaleProfiles().catch(error => log.warn({ err: error }, 'profiles of earlier browsers could not be removed'))
  const { egressAllow, egressDeny, screenshotMemoryMb: memoryMb, screenshotTimeoutMs: withinMs } = config
  const { screenshotNoSandbox: mayLackSandbox } = config
  const sandbox = browser && openSandbox(mayLackSandbox, log)
  const canCapture = mayLackSandbox || sandbox?.works() !== false
  const settings = { egressAllow, egressDeny, mayLackSandbox, memoryMb, withinMs, onSandbox: sandbox?.learn }
  const capture = browser && canCapture ? createScreenshotCapture({ browser, ...settings }) : null
  return { capture, sandboxWorks: () => sandbox?.works() ?? null }
}

function warnIfUnencrypted({ fleetTls, fleetUrl }: ProbeConfig, log: Log): void {
  if (fleetTls !== null || /^(127\.|localhost:|\[::1\])/.test(fleetUrl)) return
  log.warn('the connection to the control plane is not encrypted and carries credentials of monitors; set FLEET_TLS=on')
}

/** The first message of a connection. */
function buildHello({ config, instanceId, canPing, screenshots, work }: Probe): Hello {
  const { name, version } = config
  const types = CHECK_TYPES.filter(type => type !== 'ping' || canPing)
  const capabilities = [
    ...types,
    ...(screenshots.capture ? ['screenshot', 'screenshot_permit'] : []),
    ...(hasIpv6(config.egressAllow) ? ['ipv6'] : []),
  ]
  return { instanceId, name, version, ...(work?.getRevision() ?? { lastRevision: 0 }), capabilities }
}

/** Applies a welcome message. The first one also creates the transport and the work; one of another region calls `onMoved`. */
function welcome(probe: Probe, fleet: FleetConnection, message: Welcome, onMoved: () => void): void {
  const { config, log, clock } = probe
  if (probe.work && probe.work.region !== message.region) {
    log.error({ from: probe.work.region, to: message.region }, 'this probe was moved to another region; stopping')
    onMoved()
    return
  }
  probe.transport ??= openResultTransport(config, message, monitorId => probe.work?.markLate(monitorId), log)
  probe.work ??= startProbeWork({
    welcome: message,
    transport: probe.transport,
    clock,
    run: (spec, options) => check(probe, spec, options),
    sendRunDone: value => fleet.send({ $case: 'runDone', value }),
    sendSilent: value => fleet.send({ $case: 'silent', value }),
    capture: probe.screenshots.capture,
    sendScreenshotWanted: value => fleet.send({ $case: 'screenshotWanted', value }),
    compareEveryMs: config.compareIntervalMs,
    maxConcurrentChecks: config.maxConcurrentChecks,
    log,
  })
  probe.work.welcome(message)
  // the control plane forgets it when a probe connects again
  if (probe.isDraining) fleet.send({ $case: 'draining', value: {} })
}

function receive({ transport, work }: Probe, body: FleetMessageBody): void {
  if (body.$case === 'natsCredentials') transport?.renewCredentials(body.value.credentials)
  else work?.receive(body)
}

async function check(
  { egress, selfTest, doubt, checkCounters, clock }: Probe,
  spec: CheckSpec,
  options: CheckRunOptions,
): Promise<CheckExecution> {
  const { cancellation } = options
  const clocks = { nowMs: () => clock.nowMs() ?? wallMs(), machineMs: machine.believedMs }
  const ran = await runCheck(spec, egress, { selfTest, doubt, ...clocks, ...options })
  if (!cancellation?.isCancelled) checkCounters.count(spec.type, ran.outcome)
  return ran
}

/** Hands the monitors over, waits for running checks, and sends or spools their results. */
async function drain(probe: Probe, fleet: FleetConnection): Promise<void> {
  probe.log.info({ event: 'draining' }, 'stopping: handing over monitors and waiting for running checks')
  probe.isDraining = true
  await handOver(probe, fleet)
  await Promise.race([probe.work?.drain(), machine.pause(DRAIN_TIMEOUT_MS)])
  await probe.transport?.close()
  await fleet.close()
  probe.stopTesting()
}

/** Slots continue until the assignments are removed, so that none is missed. Without a connection a reconnect is waited for. */
async function handOver(probe: Probe, fleet: FleetConnection): Promise<void> {
  probe.work?.stopOnDemandChecks()
  fleet.send({ $case: 'draining', value: {} })
  const untilMs = machine.monotonicMs() + HAND_OVER_TIMEOUT_MS
  while (probe.work && probe.work.monitors() > 0 && machine.monotonicMs() < untilMs) await machine.pause(20)
}

/** Logs how this probe sends pings. Returns false when it cannot; its ping checks are then `icmp_unavailable`. */
function detectIcmpSupport(icmp: Icmp, log: Log): boolean {
  const [ipv4, ipv6] = [icmp(4).kind, icmp(6).kind]
  const isNone = ipv4 === 'none' && ipv6 === 'none'
  const sentence = `icmp: ${ipv4}${ipv6 === ipv4 ? '' : `, for IPv6 ${ipv6}`}`
  if (isNone)
    log.warn(
      { event: 'icmp', ipv4, ipv6 },
      `${sentence}; set net.ipv4.ping_group_range, or install ping (not for the systemd service)`,
    )
  else log.info({ event: 'icmp', ipv4, ipv6 }, sentence)
  return !isNone
}

/** Logs the beginning and the end of doubt. */
function reportDoubt(log: Log, isDoubting: boolean, hosts: number): void {
  if (isDoubting)
    log.warn({ event: 'doubt', hosts }, 'many hosts began to fail at the same time; failures are reported as doubted')
  else log.info({ event: 'doubt_over', hosts }, 'failures are no longer reported as doubted')
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new ConfigError(`DATA_DIR "${dataDir}" is not writable: ${(error as Error).message}`)
  }
}
