import { createConnections } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import { createOwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { admitMails } from '../limits/mail-actions.ts'
import { buildUnsentAttempt, toLoggedAttempt } from '../log/log-entry.ts'
import type { QueuedDelivery } from '../queue/lane-store.ts'
import { DELIVERY_TIMING } from '../queue/lanes.ts'
import { type PreparedDelivery, type PrepareTools, prepareAll } from '../rendering/prepare.ts'
import type { LoggedAttempt } from '../types.ts'
import { isSuccess } from './retry-policy.ts'
import { sendMessage } from './send-actions.ts'

export type UnstoredSendTools = PrepareTools & { db: Db; egress: Egress; mailer: Mailer | null }

/** The request as the log would show it, and its only attempt. `request` null: it was withheld, `attempt.error` has the reason. */
export type UnstoredOutcome = {
  isDelivered: boolean
  attempt: LoggedAttempt
  request: { url: string; headers: Record<string, string>; body: string } | null
}

/**
 * Sends one delivery that is not in the queue, by the steps of queued ones: it is rendered, signed, checked against the rules
 * for mails, and sent once through the egress guard. Only the counters of mails are stored. Never rejects because of the
 * receiver.
 */
export async function sendUnstored(
  head: QueuedDelivery,
  tools: UnstoredSendTools,
  now: Date,
): Promise<UnstoredOutcome> {
  const { db, egress, mailer } = tools
  const { prepared, unrenderable, unwanted, undecrypted } = await prepareAll([head], tools, now, createYieldPoint())
  const admitted = mailer === null ? null : await db.transaction(tx => admitMails(tx, prepared, tools, now))
  const [ready] = admitted?.sent ?? prepared
  const [unsent] = [...unrenderable, ...unwanted, ...undecrypted, ...(admitted?.held ?? [])]
  if (ready === undefined) return { isDelivered: false, attempt: unsent!.attempt, request: null }
  const connections = createConnections(1)
  try {
    const ownFaults = { ownFaults: createOwnFaultDetector(), reportOwnFault: () => {} }
    const transports = { egress, visitorEgress: egress, mailer, connections, timing: DELIVERY_TIMING, ...ownFaults }
    const outcome = await sendMessage(ready, now, transports)
    if (outcome === null) return { isDelivered: false, attempt: buildUnsentAttempt(BUSY, now), request: null }
    return { isDelivered: isSuccess(outcome), attempt: toLoggedAttempt(outcome), request: toShownRequest(ready) }
  } finally {
    connections.close()
  }
}

const BUSY = 'all connections to the mail server are busy; try again'

const toShownRequest = ({ shown, message }: PreparedDelivery) => ({ ...shown, body: message.body.toString('utf8') })
