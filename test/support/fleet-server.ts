import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js'
import {
  type Assignment,
  type Assignments,
  type CheckSpec,
  type FleetMessage,
  FleetService,
  type Heartbeat,
  type Hello,
  type ProbeMessage,
  RegionState,
  type RunDone,
  type RunNow,
  type Welcome,
} from '../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../proto/gen/probe/v1/result.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { createCheckSpec } from './spec.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

type Call = ServerDuplexStream<ProbeMessage, FleetMessage>
type FleetServerOptions = Partial<Omit<Welcome, 'natsCredentials'>> & {
  token?: string
  port?: number
  /** how far this control plane's clock is ahead of the machine's */
  clockAheadMs?: number
}

/** A control plane as a probe sees it: real gRPC, and the test decides which messages it sends. */
export type FleetServer = {
  url: string
  port: number
  hellos: Hello[]
  heartbeats: Heartbeat[]
  runsDone: RunDone[]
  drained: () => boolean
  /** Stops answering and reading without closing the connection, as with a cut cable. */
  setSilent: (isSilent: boolean) => void
  /** Sends to the newest session; waits for one. */
  send: (body: NonNullable<FleetMessage['body']>) => Promise<void>
  assign: (message: Partial<Assignments>) => Promise<void>
  runNow: (request: Partial<RunNow>) => Promise<void>
  /** Waits for that many Hello messages and returns the last. */
  hello: (count: number) => Promise<Hello>
  nowMs: () => number
  stop: () => Promise<void>
}

export async function startFleetServer(t: Teardown, options: FleetServerOptions = {}): Promise<FleetServer> {
  const { token = 'prb_test', port: wanted, clockAheadMs = 0, ...overrides } = options
  const port = wanted ?? (await reserveFreePort())
  const welcome: Welcome = {
    probeId: 'probe-1',
    region: 'eu-west',
    natsUrl: 'nats://127.0.0.1:1',
    natsCredentials: '',
    heartbeatIntervalMs: 200,
    deadAfterMs: 60_000,
    epoch: 1,
    ...overrides,
  }
  const hellos: Hello[] = []
  const heartbeats: Heartbeat[] = []
  const runsDone: RunDone[] = []
  let call: Call | null = null
  let isSilent = false
  let isDrained = false
  const nowMs = () => Date.now() + clockAheadMs

  function connect(opened: Call): void {
    if (opened.metadata.get('enrolment-token')[0] !== token) {
      opened.emit('error', { code: status.UNAUTHENTICATED, details: 'the token is unknown' })
      return
    }
    opened.on('data', (message: ProbeMessage) => receive(opened, message))
    opened.on('end', () => opened.end())
    opened.on('error', () => {})
  }

  function receive(from: Call, { body }: ProbeMessage): void {
    if (isSilent || !body) return
    if (body.$case === 'hello') {
      from.write({ body: { $case: 'welcome', value: welcome } })
      call = from
      hellos.push(body.value)
    } else if (body.$case === 'heartbeat') {
      heartbeats.push(body.value)
      from.write({ body: { $case: 'heartbeatAck', value: { seq: body.value.seq, nowMs: nowMs() } } })
    } else if (body.$case === 'runDone') runsDone.push(body.value)
    else if (body.$case === 'draining') {
      isDrained = true
      from.write({ body: { $case: 'drain', value: {} } })
    }
  }

  const server = new Server()
  server.addService(FleetService, { connect })
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error ? reject(error) : resolve(at),
    )
  })
  const stop = async () => {
    call = null
    server.forceShutdown()
  }
  t.teardown(stop)

  async function send(body: NonNullable<FleetMessage['body']>): Promise<void> {
    const to = await waitFor(() => call, { label: 'a session of a probe' })
    to.write({ body })
  }

  return {
    url: `127.0.0.1:${bound}`,
    port: bound,
    hellos,
    heartbeats,
    runsDone,
    drained: () => isDrained,
    setSilent: silent => {
      isSilent = silent
    },
    send,
    assign: message => send({ $case: 'assignments', value: { ...DELTA, ...message } }),
    runNow: request => send({ $case: 'runNow', value: { ...RUN_NOW, ...request } }),
    async hello(count) {
      await waitFor(() => hellos.length >= count, { label: `greeting ${count}` })
      return hellos.at(-1)!
    },
    nowMs,
    stop,
  }
}

const DELTA: Assignments = { isSnapshot: false, isLast: false, revision: 1, upserts: [], removals: [] }
const RUN_NOW: RunNow = { runId: '', monitorId: '', trigger: Trigger.RUN_NOW, scheduledAtMs: 0, spec: undefined }

/** An http check of `url`, with the changes of a test. */
export function checkSpec(url: string, other: Partial<CheckSpec> = {}): CheckSpec {
  return createCheckSpec({ url, timeoutMs: 30_000, ...other })
}

/** A monitor with an interval of 30 s and without re-checks, with the changes of a test. */
export function assignment(monitorId: string, spec: CheckSpec, other: Partial<Assignment> = {}): Assignment {
  return {
    monitorId,
    configVersion: 1,
    intervalS: 30,
    retryCount: 0,
    regionState: RegionState.OK,
    spec,
    checkAtOnce: false,
    tenant: 0,
    ...other,
  }
}
