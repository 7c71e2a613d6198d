import { hash, verify } from '@node-rs/argon2'
import { limitConcurrency } from '../concurrency/concurrency-limit.ts'

/** OWASP's first choice: argon2id (the library's default) with 19 MiB and two passes. A hash contains its parameters, so this may be raised. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A hash with this cost, of no known password: verifying takes as long as with the hash of an account. */
const PLACEHOLDER = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Each takes 19 MiB and about 30 ms of a core, so few run at the same time and the queue is limited. */
const MAX_CONCURRENT = 2
const MAX_WAITING = 100

export type Passwords = {
  /** The hash to store for a password. Rejects with TooBusyError when too many wait. */
  hash(password: string): Promise<string>
  /** `stored` null: no account has that address. The result is false and takes as long as for an existing account. */
  verify(stored: string | null, password: string): Promise<boolean>
}

/** Too many passwords wait to be hashed or verified in this process. */
export class TooBusyError extends Error {}

/** Hashes passwords, a few at a time. */
export function createPasswords(): Passwords {
  const turn = limitConcurrency(MAX_CONCURRENT, {
    maxWaiting: MAX_WAITING,
    refuse: () => new TooBusyError('too many passwords are being verified'),
  })
  return {
    hash: password => turn(() => hash(password, COST)),
    async verify(stored, password) {
      const isRight = await turn(() => verify(stored ?? PLACEHOLDER, password))
      return isRight && stored !== null
    },
  }
}
