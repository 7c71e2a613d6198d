import { hash, verify } from '@node-rs/argon2'
import { limitConcurrency } from '../concurrency/concurrency-limit.ts'

/** OWASP's first choice: 19 MiB, two passes of argon2id, the library's own algorithm. A hash tells what it was made with, so this may be raised. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Each takes 19 MiB and some 30 ms of a core: a flood of them waits, and past the queue is turned away. */
const MAX_CONCURRENT = 2
const MAX_WAITING = 100

export type Passwords = {
  /** What is stored of a password. Rejects with TooBusy when too many wait. */
  hash(password: string): Promise<string>
  /** `stored` null: nobody has that address. It takes as long as for somebody, and is false. */
  verify(stored: string | null, password: string): Promise<boolean>
}

/** More passwords wait to be looked at than this process can look at soon. */
export class TooBusyError extends Error {}

/** Hashes passwords, a few at a time. */
export function createPasswords(): Passwords {
  const turn = limitConcurrency(MAX_CONCURRENT, {
    maxWaiting: MAX_WAITING,
    refuse: () => new TooBusyError('too many passwords are being looked at'),
  })
  const nobody = turn(() => hash('nobody', COST))
  nobody.catch(() => {})
  return {
    hash: password => turn(() => hash(password, COST)),
    async verify(stored, password) {
      const compared = stored ?? (await nobody)
      const isRight = await turn(() => verify(compared, password))
      return isRight && stored !== null
    },
  }
}
