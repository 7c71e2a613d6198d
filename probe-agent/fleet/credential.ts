import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../../shared/process/durable-file.ts'
import { ConfigError } from '../../shared/process/env.ts'

/** What a probe sends to authenticate: its own secret, and the enrolment token while it is not enrolled. */
export type ProbeCredential = { secret: string; token: string | null }

const FILE = 'credential.json'
/** How many secrets of earlier tokens are kept. */
const MAX_EARLIER = 3

/**
 * Reads or creates the probe's secret in its data directory (mode 0600). The secret is on disk before the control plane
 * receives it, so a one-use token is never spent on a secret that is lost. A different token creates a new secret; an earlier
 * one, set again, gets its own secret back, because the other may have been a mistake. Throws a ConfigError when there is
 * neither a secret nor a token.
 */
export function openCredential(dataDir: string, token: string | null, newSecret: () => string): ProbeCredential {
  const file = join(dataDir, FILE)
  const kept = readStoredCredential(file)
  if (kept && (token === null || kept.enrolledWith === hashToken(token))) return { secret: kept.secret, token }
  if (token === null) {
    throw new ConfigError(`PROBE_TOKEN is not set, and "${dataDir}" does not contain ${FILE} of an earlier enrolment`)
  }
  const enrolledWith = hashToken(token)
  const known = kept ? [kept, ...kept.earlier] : []
  const secret = known.find(one => one.enrolledWith === enrolledWith)?.secret ?? `prs_${newSecret()}`
  const earlier = known.filter(one => one.enrolledWith !== enrolledWith).slice(0, MAX_EARLIER)
  const stored = { secret, enrolled_with: enrolledWith, earlier: earlier.map(toStored) }
  writeDurably(file, `${JSON.stringify(stored)}\n`)
  return { secret, token }
}

/** Whether the data directory has a secret that this token enrolled, or will enrol. */
export const isEnrolledWith = (dataDir: string, token: string): boolean =>
  readStoredCredential(join(dataDir, FILE))?.enrolledWith === hashToken(token)

type Enrolment = { secret: string; enrolledWith: string }

const toStored = ({ secret, enrolledWith }: Enrolment) => ({ secret, enrolled_with: enrolledWith })

/** `earlier`: the secrets of tokens that were set before, newest first. */
function readStoredCredential(file: string): (Enrolment & { earlier: Enrolment[] }) | null {
  if (!existsSync(file)) return null
  chmodSync(file, 0o600)
  try {
    const { secret, enrolled_with: enrolledWith, earlier = [] } = JSON.parse(readFileSync(file, 'utf8'))
    const before = (Array.isArray(earlier) ? earlier : []).map(one => ({
      secret: one?.secret,
      enrolledWith: one?.enrolled_with,
    }))
    if ([secret, ...before.map(one => one.secret)].every(isSecret)) return { secret, enrolledWith, earlier: before }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ConfigError(`"${file}" is damaged; remove it and set PROBE_TOKEN to a new enrolment token`)
}

const isSecret = (text: unknown) => typeof text === 'string' && /^prs_[\w-]{43}$/.test(text)

const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
