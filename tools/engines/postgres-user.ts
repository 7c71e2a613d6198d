import { execFileSync, spawnSync } from 'node:child_process'
import type { ProcessIdentity } from './process.ts'

/**
 * PostgreSQL refuses to run as root. As root, it runs as the system user `postgres`, which is created if it is missing; as
 * any other user it runs as that user (undefined). If the user `postgres` cannot access the checkout (as in root's home), it
 * keeps the capability to pass closed directories.
 */
export function resolvePostgresIdentity(paths: string[]): ProcessIdentity | undefined {
  if (process.getuid?.() !== 0) return undefined
  const uid = readId('-u') ?? createUser()
  const gid = readId('-g') ?? uid
  return { uid, gid, passThrough: !paths.every(path => canReach(path, uid, gid)) }
}

function readId(flag: '-u' | '-g'): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' })
  return status === 0 ? Number(stdout) : undefined
}

function createUser(): number {
  execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'])
  const uid = readId('-u')
  if (uid === undefined)
    throw new Error('The system user "postgres" could not be created; run as a user other than root.')
  return uid
}

function canReach(path: string, uid: number, gid: number): boolean {
  return spawnSync('test', ['-x', path], { uid, gid }).status === 0
}
