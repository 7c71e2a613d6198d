import { execFile, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'

/** Root gets a network namespace directly, other users inside a user namespace. */
const UNSHARE = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]

/** Whether this machine allows a program to have a network namespace with its own kernel settings. */
export const hasOwnNetwork = () => spawnSync('unshare', [...UNSHARE, 'true']).status === 0

/** Runs a TypeScript program in its own network namespace and returns its output, parsed as JSON. */
export async function runInOwnNetwork<T>(file: string, input: unknown): Promise<T> {
  const args = [...UNSHARE, process.execPath, '--import=tsx', file, JSON.stringify(input)]
  const { stdout } = await promisify(execFile)('unshare', args)
  return JSON.parse(stdout) as T
}

/** The first step of such a program. SIOCSIFFLAGS with IFF_UP on `lo`, because not every machine has a program for it. */
export function bringUpLoopback(): void {
  const koffi = createRequire(import.meta.url)('koffi')
  const libc = koffi.load(null)
  const request = Buffer.alloc(40)
  request.write('lo')
  request.writeUInt16LE(1, 16)
  const socket = libc.func('int socket(int, int, int)')(2, 2, 0)
  if (libc.func('int ioctl(int, unsigned long, void *)')(socket, 0x8914, request) !== 0) throw new Error('no loopback')
}
