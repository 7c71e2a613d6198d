import { connect } from '@nats-io/transport-node'
import { parseNatsServers } from '../../../../shared/nats/servers.ts'
import { buildAccountJwts, createOwnLogin, type NatsOperator } from './operator.ts'

/** Ids of revoked probes, by region. */
type RevokedProbes = ReadonlyMap<string, readonly string[]>

export type NatsAccountPublisher = {
  /**
   * Sends the accounts and the revoked probes to the servers. A revoked probe loses its connection immediately. What was
   * already sent is not sent again, unless the connection was lost meanwhile. Rejects when the servers reject it.
   */
  publish(revoked: RevokedProbes): Promise<void>
  close(): Promise<void>
}

const UPDATE_SUBJECT = '$SYS.REQ.CLAIMS.UPDATE'
const REPLY_TIMEOUT_MS = 2_000

/**
 * Connects as a user of the system account. The servers' resolver must be of type `full`. `nowMs` is JetStream's time, by
 * which the servers check credentials.
 */
export async function connectAccountPublisher(
  url: string,
  operator: NatsOperator,
  nowMs: () => number,
): Promise<NatsAccountPublisher> {
  const nowS = () => Math.floor(nowMs() / 1_000)
  const connection = await connect({
    ...parseNatsServers(url),
    name: 'accounts',
    authenticator: createOwnLogin(operator.system, 'accounts', nowS()),
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 500,
    timeout: 5_000,
  })
  const sent = new Map<string, string>()
  /** the whole content of the last send, as text; null: unknown, or not all of it was accepted */
  let lastSent: string | null = null
  const forget = async () => {
    for await (const { type } of connection.status()) {
      if (type !== 'reconnect') continue
      sent.clear()
      lastSent = null
    }
  }
  forget()
  return {
    async publish(revoked) {
      // signing is the slowest step, and mostly nothing has changed
      const content = JSON.stringify([...revoked])
      if (lastSent === content) return
      lastSent = content
      try {
        await publishChanged(revoked)
      } catch (error) {
        lastSent = null
        throw error
      }
    },
    close: () => connection.close(),
  }

  async function publishChanged(revoked: RevokedProbes): Promise<void> {
    const known = new Map(buildAccountJwts(operator, 0, revoked).map(account => [account.publicKey, account.jwt]))
    for (const { publicKey, jwt: text } of buildAccountJwts(operator, nowS(), revoked)) {
      const content = known.get(publicKey) ?? ''
      if (sent.get(publicKey) === content) continue
      const answer = await connection.request(UPDATE_SUBJECT, text, { timeout: REPLY_TIMEOUT_MS })
      const { error } = answer.json<{ error?: { description?: string } }>()
      if (error) throw new Error(`NATS rejected an account: ${error.description}`)
      sent.set(publicKey, content)
    }
  }
}
