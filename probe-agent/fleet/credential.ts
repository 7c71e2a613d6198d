import { createHash } from 'node:crypto'
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../shared/process/env.ts'

/** What a probe sends to authenticate: its own secret, and the enrolment token while it is not enrolled. */
export type ProbeCredential = { secret: string; token: string | null }

const FILE = 'credential.json'

/**
 * Reads or creates the probe's secret in its data directory (mode 0600). The secret is on disk before the control plane
 * receives it, so a one-use token is never spent on a secret that is lost. A different token creates a new secret. Throws
 * a ConfigError when there is neither a secret nor a token.
 */
export function openCredential(dataDir: string, token: string | null, newSecret: () => string): ProbeCredential {
  const file = join(dataDir, FILE)
  const kept = readStoredCredential(file)
  if (kept && (token === null || kept.enrolledWith === hashToken(token))) return { secret: kept.secret, token }
  if (token === null) {
    throw new ConfigError(`PROBE_TOKEN is not set, and "${dataDir}" does not contain ${FILE} of an earlier enrolment`)
  }
  const secret = `prs_${newSecret()}`
  write(file, JSON.stringify({ secret, enrolled_with: hashToken(token) }))
  return { secret, token }
}

function readStoredCredential(file: string): { secret: string; enrolledWith: string } | null {
  if (!existsSync(file)) return null
  chmodSync(file, 0o600)
  try {
    const { secret, enrolled_with: enrolledWith } = JSON.parse(readFileSync(file, 'utf8'))
    if (/^prs_[\w-]{43}$/.test(secret)) return { secret, enrolledWith }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ConfigError(`"${file}" is damaged; remove it and set PROBE_TOKEN to a new enrolment token`)
}

function write(file: string, text: string): void {
  const handle = openSync(`${file}.new`, 'w', 0o600)
  try {
    writeFileSync(handle, `${text}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(`${file}.new`, file)
}

const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
