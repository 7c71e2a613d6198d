import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, credsAuthenticator } from '@nats-io/transport-node'
import t, { type Test } from 'tap'
import { connectAccountPublisher } from '../../control-plane/foundation/platform/nats/account-publisher.ts'
import {
  buildProbeCredentials,
  createOwnLogin,
  generateOperatorSeed,
  parseOperatorSeed,
} from '../../control-plane/foundation/platform/nats/operator.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import { buildInboxPrefix } from '../../shared/nats/subjects.ts'
import { startNats as startEngine } from '../../tools/engines/nats.ts'
import { keepEngine } from '../support/engine.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

const operator = parseOperatorSeed(generateOperatorSeed())!
/** The system account, the account with the streams, and one for each region. */
const ACCOUNTS = 2 + REGIONS.length
const NO_PROBE_IS_OUT = new Map<string, string[]>()
const ONE_IS_OUT = new Map([['eu-west', ['probe-1']]])

/** A server in operator mode behind a relay that records each account token that is sent. */
async function setUp(t: Test) {
  const dataDir = mkdtempSync(join(tmpdir(), 'picket-nats-'))
  const server = await keepEngine(port => startEngine({ dataDir, logFile: join(dataDir, 'nats.log'), port, operator }))
  t.teardown(async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const relay = await startTcpRelay(t, server.url)
  const authenticator = createOwnLogin(operator.system, 'test', Math.floor(Date.now() / 1_000))
  let sent = 0
  /** Resolves when everything that the server has sent so far is counted. */
  let counted: () => Promise<void>
  const watch = async () => {
    const system = await connect({ servers: server.url, authenticator, reconnect: false })
    t.teardown(() => system.close())
    system.subscribe('$SYS.REQ.CLAIMS.UPDATE', { callback: () => void sent++ })
    counted = () => system.flush()
    await counted()
  }
  await watch()
  const accounts = await connectAccountPublisher(relay.url, operator, Date.now)
  t.teardown(() => accounts.close())
  return {
    server,
    relay,
    accounts,
    watch,
    /** Counts the account tokens that are sent during the work. */
    async during(work: () => Promise<unknown>): Promise<number> {
      const before = sent
      await work()
      await counted()
      return sent - before
    },
    /** Restarts the server without its stored accounts. */
    async loseAccounts() {
      await server.stop()
      rmSync(join(dataDir, 'accounts'), { recursive: true })
      await server.restart()
    },
    /** Rejects when the server refuses the connection. */
    async connectAsProbe() {
      const nowS = Math.floor(Date.now() / 1_000)
      const text = buildProbeCredentials(
        operator,
        { probeId: 'probe-1', region: 'eu-west' },
        { nowS, endsS: nowS + 600 },
      )
      const connection = await connect({
        servers: server.url,
        inboxPrefix: buildInboxPrefix('probe-1'),
        authenticator: credsAuthenticator(new TextEncoder().encode(text)),
        reconnect: false,
      })
      t.teardown(() => connection.close())
      return connection
    },
  }
}

t.test('An unchanged account is sent to NATS once', async t => {
  const { accounts, during } = await setUp(t)
  t.equal(await during(() => accounts.publish(NO_PROBE_IS_OUT)), ACCOUNTS)
  t.equal(await during(() => accounts.publish(new Map())), 0)
  t.equal(await during(() => accounts.publish(ONE_IS_OUT)), 1, 'the account of the region whose probe is revoked')
  t.equal(await during(() => accounts.publish(new Map([['eu-west', ['probe-1']]]))), 0)
  t.equal(await during(() => accounts.publish(NO_PROBE_IS_OUT)), 1, 'and again when the revocation has ended')
})

t.test('An account that NATS did not accept is sent again without a change', async t => {
  const { accounts, relay, during, connectAsProbe } = await setUp(t)
  await accounts.publish(NO_PROBE_IS_OUT)
  const probe = await connectAsProbe()
  relay.hold()
  await t.rejects(accounts.publish(ONE_IS_OUT))
  await t.rejects(accounts.publish(ONE_IS_OUT), 'while the server does not answer')
  await relay.restore()
  t.ok((await during(() => waitFor(() => accounts.publish(ONE_IS_OUT).then(() => true)))) > 0)
  t.match(String(await probe.closed()), /revoked/i)
  t.equal(await during(() => accounts.publish(ONE_IS_OUT)), 0)
})

t.test(
  'A NATS server that has lost its accounts receives all of them again, and a revoked probe is disconnected again',
  async t => {
    const { accounts, watch, during, loseAccounts, connectAsProbe } = await setUp(t)
    await accounts.publish(ONE_IS_OUT)
    await t.rejects(connectAsProbe(), /Authorization Violation|revoked/i)
    await loseAccounts()
    await watch()
    const probe = await connectAsProbe()
    const sent = await during(() =>
      waitFor(async () => {
        await accounts.publish(ONE_IS_OUT)
        return probe.isClosed()
      }),
    )
    t.equal(sent, ACCOUNTS)
    await t.rejects(connectAsProbe(), /Authorization Violation|revoked/i)
  },
)
