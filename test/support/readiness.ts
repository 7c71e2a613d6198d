import { waitFor } from './wait.ts'

/**
 * The answer of `/readyz`. It is asked again while PostgreSQL or NATS has no answer within the 3 s for which it waits, as on
 * a busy machine. `operator`: the origin of the operator's port.
 */
export const readReadiness = (operator: string) =>
  waitFor(
    async () => {
      const answer = await fetch(`${operator}/readyz`)
      const body = await answer.json()
      const isLate = body.dependencies.postgres === 'away' || body.dependencies.nats === 'away'
      return isLate ? null : { status: answer.status, body }
    },
    { label: 'an answer of /readyz with PostgreSQL and NATS' },
  )
