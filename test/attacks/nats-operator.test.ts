import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstream } from '@nats-io/jetstream'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import t from 'tap'
import { connectAccountPublisher } from '../../control-plane/foundation/platform/nats/account-publisher.ts'
import { connectNats, ensureStreams, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import {
  buildProbeCredentials,
  generateOperatorSeed,
  type NatsOperator,
  parseOperatorSeed,
} from '../../control-plane/foundation/platform/nats/operator.ts'
import { createNatsObjectStore } from '../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import {
  buildInboxPrefix,
  lateSubject,
  resultSubject,
  runHintSubject,
  screenshotSubject,
  witnessSubject,
} from '../../shared/nats/subjects.ts'
import { startNats as startEngine } from '../../tools/engines/nats.ts'
import { startNats } from '../support/nats.ts'
import { waitFor } from '../support/wait.ts'

const newOperator = () => parseOperatorSeed(generateOperatorSeed())!
const operator = newOperator()
const server = await startNats(t, operator)
const nats = await connectNats(server.url, 'test', operator)
t.teardown(() => nats.close())
await ensureStreams(nats.manager)

type Options = { probeId?: string; lifetimeS?: number; by?: NatsOperator; inboxPrefix?: string }

/** A connection of a probe of eu-west, without reconnects. */
async function connectAsProbe({ probeId = 'probe-1', lifetimeS = 60, by = operator, inboxPrefix }: Options = {}) {
  const nowS = Math.floor(Date.now() / 1000)
  const text = buildProbeCredentials(by, { probeId, region: 'eu-west' }, { nowS, endsS: nowS + lifetimeS })
  const connection = await connect({
    servers: server.url,
    inboxPrefix: inboxPrefix ?? buildInboxPrefix(probeId),
    authenticator: credsAuthenticator(new TextEncoder().encode(text)),
    reconnect: false,
  })
  t.teardown(() => connection.close())
  return connection
}

const send = (probe: NatsConnection, subject: string) => jetstream(probe).publish(subject, 'x', { timeout: 60_000 })

/** The number of messages of a stream by subject. */
async function held(stream: string, from: Nats = nats): Promise<Record<string, number>> {
  const { state } = await from.manager.streams.info(stream, { subjects_filter: '>' })
  return { ...state.subjects }
}

t.test('A probe may publish only on subjects of its region', async t => {
  const probe = await connectAsProbe()
  for (const subject of [resultSubject(3, 'eu-west'), lateSubject(3, 'eu-west'), screenshotSubject('eu-west')]) {
    t.ok((await send(probe, subject)).seq > 0, subject)
  }
  const refused = [
    resultSubject(3, 'us-east'),
    lateSubject(3, 'us-east'),
    witnessSubject(3),
    screenshotSubject('us-east'),
    runHintSubject('eu-west'),
    '$JS.API.STREAM.DELETE.RESULTS',
    '$JS.API.STREAM.INFO.RESULTS',
    '$SYS.REQ.CLAIMS.UPDATE',
    '_INBOX.probe-2.x',
  ]
  for (const subject of refused) await t.rejects(send(probe, subject), /Permissions Violation for Publish/, subject)
  t.same(await held('RESULTS'), { [resultSubject(3, 'eu-west')]: 1 })
})

t.test('A probe receives its own acks and no other messages', async t => {
  const probe = await connectAsProbe()
  for (const subject of ['RESULTS.>', 'HINT.>', '_INBOX.>', '_INBOX.probe-2.>', '>']) {
    const refusal = new Promise(resolve => probe.subscribe(subject, { callback: error => resolve(error) }))
    t.match(String(await refusal), /Permissions Violation for Subscription/, subject)
  }
  const thief = await connectAsProbe({ probeId: 'probe-2', inboxPrefix: buildInboxPrefix('probe-1') })
  await t.rejects(send(thief, resultSubject(3, 'eu-west')), /Permissions Violation for Subscription/)
})

t.test('The ack of a result cannot be directed to a stream or another region', async t => {
  await nats.js.publish(resultSubject(1, 'us-east'), 'kept')
  const probe = await connectAsProbe()
  const targets = ['$JS.API.STREAM.PURGE.RESULTS', '$JS.API.STREAM.PURGE.SHOTS', resultSubject(1, 'us-east')]
  for (const reply of targets) probe.publish(resultSubject(4, 'eu-west'), 'x', { reply })
  await send(probe, resultSubject(5, 'eu-west'))
  t.match(await held('RESULTS'), {
    [resultSubject(1, 'us-east')]: 1,
    [resultSubject(3, 'eu-west')]: 2,
    [resultSubject(4, 'eu-west')]: 3,
  })
  t.match(await held('SHOTS'), { [screenshotSubject('eu-west')]: 1 })
})

t.test('A missing, foreign or expired credential is refused', async t => {
  await t.rejects(connect({ servers: server.url, reconnect: false }), /Authorization Violation/)
  await t.rejects(connectNats(server.url, 'test', newOperator()), /Authorization Violation/)
  await t.rejects(connectAsProbe({ by: newOperator() }), /Authorization Violation/)
  await t.rejects(connectAsProbe({ lifetimeS: -1 }), /Authorization Violation|expired/i)
  const probe = await connectAsProbe({ lifetimeS: 15 })
  t.match(String(await probe.closed()), /expired/i, 'one that ends while it is in use')
})

t.test('A revoked probe is disconnected and stays refused after a restart of NATS; others stay connected', async t => {
  const accounts = await connectAccountPublisher(server.url, operator, Date.now)
  t.teardown(() => accounts.close())
  const [revoked, other] = [await connectAsProbe(), await connectAsProbe({ probeId: 'probe-2' })]
  await accounts.publish(new Map())
  await send(revoked, resultSubject(3, 'eu-west'))
  const startedMs = performance.now()
  await accounts.publish(new Map([['eu-west', ['probe-1']]]))
  t.match(String(await revoked.closed()), /revoked/i)
  t.comment(`cut off by NATS after ${Math.round(performance.now() - startedMs)} ms`)
  await send(other, resultSubject(3, 'eu-west'))
  await t.rejects(connectAsProbe(), /Authorization Violation|revoked/i)

  await server.restart()
  await t.rejects(connectAsProbe(), /Authorization Violation|revoked/i)
  await connectAsProbe({ probeId: 'probe-2' })
})

t.test('Streams and screenshots from before operator mode still exist after it', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'picket-nats-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const options = { dataDir, logFile: join(dataDir, 'nats.log'), port: 0 }
  const before = await startEngine({ ...options, operator: null })
  const open = await connectNats(before.url, 'test')
  await ensureStreams(open.manager)
  await open.js.publish(resultSubject(1, 'us-east'), 'kept')
  await createNatsObjectStore(open, 'SCREENSHOTS').put('a', Buffer.from('picture'), 'image/png')
  await open.close()
  await before.stop()

  const after = await startEngine({ ...options, operator })
  t.teardown(() => after.stop())
  const closed = await connectNats(after.url, 'test', operator)
  t.teardown(() => closed.close())
  await waitFor(async () => (await held('RESULTS', closed))[resultSubject(1, 'us-east')] === 1)
  t.same(await createNatsObjectStore(closed, 'SCREENSHOTS').get('a'), Buffer.from('picture'))
})
