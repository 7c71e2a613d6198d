import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

/** Root gets a network of its own at once, everybody else inside a user namespace. */
const UNSHARE = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]

/** Whether this machine lets a program have a network of its own, whose kernel settings are nobody else's. */
export const hasOwnNetwork = () => spawnSync('unshare', [...UNSHARE, 'true']).status === 0

/** Runs a TypeScript program in a network of its own and answers what it printed, read as JSON. */
export async function runInOwnNetwork<T>(file: string, input: unknown): Promise<T> {
  const args = [...UNSHARE, process.execPath, '--import=tsx', file, JSON.stringify(input)]
  const { stdout } = await promisify(execFile)('unshare', args)
  return JSON.parse(stdout) as T
}
