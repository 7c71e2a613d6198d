import { randomBytes } from 'node:crypto'
import {
  type ChannelCredentials,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import { createSecretCipher, type SecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { connectNats, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import type { NatsOperator } from '../../control-plane/foundation/platform/nats/operator.ts'
import type { GrpcTls } from '../../control-plane/foundation/platform/network/grpc-server.ts'
import { createPostgres, type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createProbeToken } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { FLEET_TIMING, type FleetTiming } from '../../control-plane/monitoring/fleet/timing.ts'
import { startFleet } from '../../control-plane/monitoring/fleet/worker.ts'
import {
  type Assignment,
  type Assignments,
  FleetClient,
  type FleetMessage,
  type Hello,
  type ProbeMessage,
} from '../../proto/gen/probe/v1/fleet.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics, type Metrics } from '../../shared/process/metrics.ts'
import { createDatabase } from './database.ts'
import { startNats } from './nats.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant } from './tenant.ts'
import { waitFor } from './wait.ts'

/** The times of docs/design/assignments.md, shortened for tests. */
export const FAST: FleetTiming = {
  heartbeatIntervalMs: 300,
  deadAfterMs: 5_000,
  steadyAfterMs: 8_000,
  roundIntervalMs: 100,
  monitorPollIntervalMs: 2_000,
  credentialsLifetimeMs: 3_600_000,
  firstCallTimeoutMs: 60_000,
}

/** The same without evictions, even when the machine stops for seconds. */
export const PATIENT: FleetTiming = { ...FAST, deadAfterMs: 60_000 }

type PortSettings = { reflection?: boolean; connectionsPerAddress?: number }

export type TestFleet = {
  db: Db
  nats: Nats
  projectId: string
  /** a token that admits any number of probes */
  token(region?: string): Promise<string>
  /** starts another fleet process with the same engines */
  start(
    timing?: FleetTiming,
    tls?: GrpcTls,
    port?: PortSettings,
  ): Promise<Awaited<ReturnType<typeof startFleet>> & { metrics: Metrics }>
  /** the live set of a region in PostgreSQL */
  epoch(region?: string): Promise<{ epoch: number; probeIds: string[] }>
}

type Store = { url: string; db: Db; secrets: SecretCipher }

/**
 * A NATS server and a project for fleet processes, with a new database or the given one. With an operator NATS is in
 * operator mode.
 */
export async function createTestFleet(
  t: Teardown,
  given?: Store,
  operator: NatsOperator | null = null,
): Promise<TestFleet> {
  const { url, db, secrets } = given ?? (await createStore(t))
  const { url: natsUrl } = await startNats(t, operator)
  const nats = await connectNats(natsUrl, 'test', operator)
  t.teardown(() => nats.close())
  const { projectId } = await insertTenant(db)
  let processes = 0
  return {
    db,
    nats,
    projectId,
    token: (region = 'eu-west') => createProbeToken(db, region, { isReusable: true }),
    async start(timing = FLEET_TIMING, tls, settings = {}) {
      const log = createLog('fleet', process.env.TEST_LOG ?? 'silent')
      const metrics = createMetrics()
      const fleet = await startFleet({
        ...{ db, admissionsDb: db, databaseUrl: url, nats, secrets, log, metrics, timing, natsUrl },
        processName: `fleet-${++processes}`,
        host: '127.0.0.1',
        port: 0,
        tls: tls ?? null,
        ...{ reflection: false, connectionsPerAddress: 1_000, ...settings },
      })
      let isStopped = false
      const stop = async () => {
        if (!isStopped) await fleet.stop()
        isStopped = true
      }
      t.teardown(stop)
      return { port: fleet.port, stop, metrics }
    },
    async epoch(region = 'eu-west') {
      const rows = await query<{ epoch: number; probeIds: string[] }>(
        db,
        'SELECT epoch, probe_ids AS "probeIds" FROM region_epochs WHERE region = ?',
        [region],
      )
      return rows[0] ?? { epoch: 0, probeIds: [] }
    },
  }
}

async function createStore(t: Teardown): Promise<Store> {
  const { url } = await createDatabase(t)
  const db = createPostgres(url, 20)
  t.teardown(() => db.destroy())
  return { url, db, secrets: createSecretCipher(randomBytes(32)) }
}

export type TestProbe = {
  /** everything received, in order */
  messages: NonNullable<FleetMessage['body']>[]
  /** its current assignments, maintained according to the protocol */
  assigned: Map<string, Assignment>
  /** upserts in the order of arrival */
  upserts: Assignment[]
  has: { revision: number; epoch: number | undefined }
  probeId(): Promise<string>
  /** waits for a snapshot's last chunk */
  ready(): Promise<void>
  send(body: NonNullable<ProbeMessage['body']>): void
  /** sends a heartbeat each `everyMs` from now on, with the result of the connectivity test; 0: stops them */
  beat(everyMs: number, isOnline?: boolean): void
  cut(): void
  /** how the stream ended */
  ended: Promise<{ code: number; details: string }>
}

/** `secret`: the probe's own; without it the probe is an old one without a secret. `tls`: default is plain text. */
type Doorway = { beatMs?: number; secret?: string; tls?: ChannelCredentials }

/** A real gRPC client that keeps its assignments as a probe does. Heartbeats start with the first message. */
export function connectProbe(
  t: Teardown,
  port: number,
  token: string,
  { beatMs = 100, secret, tls, ...hello }: Partial<Hello> & Doorway = {},
): TestProbe {
  const client = new FleetClient(`127.0.0.1:${port}`, tls ?? credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
  })
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${secret ?? token}`)
  if (secret && token) metadata.set('enrolment-token', token)
  const stream: ClientDuplexStream<ProbeMessage, FleetMessage> = client.connect(metadata)
  const send: TestProbe['send'] = body => stream.write({ body })
  let timer: NodeJS.Timeout | undefined
  let seq = 0
  const probe: TestProbe = {
    messages: [],
    assigned: new Map(),
    upserts: [],
    has: { revision: hello.lastRevision ?? 0, epoch: hello.lastEpoch },
    async probeId() {
      const { value } = await waitFor(() => find(probe, 'welcome'), { label: 'the welcome' })
      return value.probeId
    },
    async ready() {
      await waitFor(() => all(probe, 'assignments').some(value => value.isSnapshot && value.isLast), {
        label: 'the snapshot',
      })
    },
    send,
    beat(everyMs, isOnline = true) {
      clearInterval(timer)
      if (everyMs > 0) timer = setInterval(() => send(heartbeat(++seq, isOnline)), everyMs)
    },
    cut() {
      clearInterval(timer)
      stream.cancel()
      client.close()
    },
    ended: new Promise(resolve => {
      stream.on('error', ({ code, details }: ServiceError) => {
        clearInterval(timer)
        resolve({ code, details })
      })
    }),
  }
  const named = new Set<string>()
  stream.on('data', ({ body }: FleetMessage) => {
    if (!body) return
    probe.messages.push(body)
    if (body.$case === 'assignments') apply(probe, body.value, named)
    if (body.$case === 'epochChanged') probe.has.epoch = body.value.epoch
  })
  send({ $case: 'hello', value: { ...HELLO, ...hello } })
  if (beatMs > 0) probe.beat(beatMs)
  t.teardown(probe.cut)
  return probe
}

const HELLO: Hello = {
  instanceId: 'instance-1',
  name: 'probe-1',
  version: '1.0.0',
  lastRevision: 0,
  capabilities: ['http', 'keyword', 'tcp'],
}

const heartbeat = (seq: number, connectivityOk: boolean): NonNullable<ProbeMessage['body']> => ({
  $case: 'heartbeat',
  value: { seq, running: 1, waiting: 2, spoolBytes: 0, loopLagMs: 3, connectivityOk, droppedResults: 0 },
})

type Kind = NonNullable<FleetMessage['body']>['$case']
type FleetBody<K extends Kind> = Extract<NonNullable<FleetMessage['body']>, { $case: K }>

const find = <K extends Kind>(probe: TestProbe, kind: K): FleetBody<K> | undefined =>
  probe.messages.find((body): body is FleetBody<K> => body.$case === kind)

/** Everything received of one kind. */
export const all = <K extends Kind>(probe: TestProbe, kind: K): FleetBody<K>['value'][] =>
  probe.messages
    .filter((body): body is FleetBody<K> => body.$case === kind)
    .map(body => body.value as FleetBody<K>['value'])

function apply(probe: TestProbe, message: Assignments, named: Set<string>): void {
  for (const upsert of message.upserts) {
    probe.assigned.set(upsert.monitorId, upsert)
    probe.upserts.push(upsert)
    if (message.isSnapshot) named.add(upsert.monitorId)
  }
  for (const id of message.removals) probe.assigned.delete(id)
  if (message.isSnapshot && message.isLast) {
    for (const id of probe.assigned.keys()) if (!named.has(id)) probe.assigned.delete(id)
    named.clear()
  }
  if (!message.isSnapshot || message.isLast) probe.has = { revision: message.revision, epoch: message.epoch }
}
