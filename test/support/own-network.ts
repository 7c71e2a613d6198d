import { execFile, spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Teardown } from './teardown.ts'

/** Root creates a network namespace directly, other users inside a user namespace. */
const UNSHARE = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]

/** Whether this machine allows a program its own network namespace with its own kernel settings. */
export const hasOwnNetwork = () => spawnSync('unshare', [...UNSHARE, 'true']).status === 0

/** Runs a TypeScript program in its own network namespace. Returns its output, parsed as JSON. */
export async function runInOwnNetwork<T>(file: string, input: unknown): Promise<T> {
  const args = [...UNSHARE, process.execPath, '--import=tsx', file, JSON.stringify(input)]
  const { stdout } = await promisify(execFile)('unshare', args)
  return JSON.parse(stdout) as T
}

/**
 * Starts a TypeScript program in its own network namespace. The returned function writes an input to it as a line of JSON, and
 * resolves to its next line, parsed as JSON. Call it again only after that.
 */
export function startInOwnNetwork<I, O>(t: Teardown, file: string): (input: I) => Promise<O> {
  const args = [...UNSHARE, process.execPath, '--import=tsx', file]
  const child = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return async input => {
    child.stdin.write(`${JSON.stringify(input)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`${file} has ended`)
    return JSON.parse(value)
  }
}

/** Enables the loopback interface; call it first. Uses SIOCSIFFLAGS with IFF_UP on `lo`, because not every machine has a program for it. */
export function bringUpLoopback(): void {
  const koffi = createRequire(import.meta.url)('koffi')
  const libc = koffi.load(null)
  const request = Buffer.alloc(40)
  request.write('lo')
  request.writeUInt16LE(1, 16)
  const socket = libc.func('int socket(int, int, int)')(2, 2, 0)
  if (libc.func('int ioctl(int, unsigned long, void *)')(socket, 0x8914, request) !== 0) throw new Error('no loopback')
}
