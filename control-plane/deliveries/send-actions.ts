import type { Connections, Egress } from '../../shared/egress/index.ts'
import { post } from '../platform/http.ts'
import { hiddenValues, SNIPPET_BYTES, toOutcome } from './outcome.ts'
import type { Prepared } from './prepare.ts'
import type { Outcome } from './types.ts'

/** What carries messages. */
export type Carriers = { egress: Egress; connections: Connections }

/** A receiver's time for the whole of its answer (specification, "Delivery and retries" 1). */
const TIMEOUT_MS = 10_000

/** Makes one attempt, by whatever its message goes. Never rejects for what the receiver does. */
export async function sendMessage(prepared: Prepared, startedAt: Date, carriers: Carriers): Promise<Outcome> {
  const { message } = prepared
  const answer = await post(message, TIMEOUT_MS, SNIPPET_BYTES, carriers.egress, carriers.connections)
  return toOutcome(answer, startedAt, hiddenValues(prepared))
}
