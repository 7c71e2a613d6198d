import { connect, jwtAuthenticator } from '@nats-io/transport-node'
import { buildAccountJwts, createOwnUser, type NatsOperator } from './operator.ts'

/** Ids of probes that are out, by region. */
export type RevokedProbes = ReadonlyMap<string, readonly string[]>

export type NatsAccountPublisher = {
  /**
   * Sends the accounts to the servers, and which probes are out; such a probe loses its connection at once. What was sent
   * already is not sent again, unless the connection was lost meanwhile. Rejects when the servers do not take it.
   */
  publish(revoked: RevokedProbes): Promise<void>
  close(): Promise<void>
}

const UPDATE_SUBJECT = '$SYS.REQ.CLAIMS.UPDATE'
const REPLY_TIMEOUT_MS = 2_000

/**
 * Connects as a user of the system account. The servers' resolver has to be of type `full`. `nowMs` is JetStream's time,
 * by which the servers judge.
 */
export async function connectAccountPublisher(
  servers: string[],
  operator: NatsOperator,
  nowMs: () => number,
): Promise<NatsAccountPublisher> {
  const nowS = () => Math.floor(nowMs() / 1_000)
  const { jwt, seed } = createOwnUser(operator.system, 'accounts', nowS())
  const connection = await connect({
    servers,
    name: 'accounts',
    authenticator: jwtAuthenticator(jwt, new TextEncoder().encode(seed)),
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 500,
    timeout: 5_000,
  })
  const sent = new Map<string, string>()
  /** the whole content of the last send, as text; null: unknown, or not all of it was accepted */
  let sentInAll: string | null = null
  const forget = async () => {
    for await (const { type } of connection.status()) {
      if (type !== 'reconnect') continue
      sent.clear()
      sentInAll = null
    }
  }
  forget()
  return {
    async publish(revoked) {
      // signing takes longer than all the rest, and mostly nothing has changed
      const inAll = JSON.stringify([...revoked])
      if (sentInAll === inAll) return
      sentInAll = inAll
      try {
        await publishChanged(revoked)
      } catch (error) {
        sentInAll = null
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
      if (error) throw new Error(`NATS does not take an account: ${error.description}`)
      sent.set(publicKey, content)
    }
  }
}
