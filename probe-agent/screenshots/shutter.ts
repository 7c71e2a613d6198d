import { spawn } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machine } from '../clock.ts'
import type { BrowserFound } from './find-browser.ts'
import { PICTURE_LIMIT_BYTES, type PictureHead, type PictureOrder } from './order.ts'

export type ShutterSettings = {
  browser: BrowserFound
  egressAllow: string[]
  /** for the browser and all its processes */
  memoryMb: number
  /** the program that takes one picture; default: the one beside this program */
  program?: string
  /** from its start to the picture */
  withinMs?: number
}

export type PictureWanted = Pick<PictureOrder, 'url' | 'headers' | 'format'>
export type PictureTaken = { statusCode: number; contentType: string; bytes: Buffer }

export type Shutter = {
  /** Rejects when there is no picture; the message says why. */
  take: (wanted: PictureWanted) => Promise<PictureTaken>
  /** Ends what is under way. */
  stop: () => void
}

const WITHIN_MS = 15_000
/** For a program that cannot end itself any more. */
const KILL_LATER_MS = 1_000
const HEAD_AT_MOST_BYTES = 4096
/** `nobody` on every Linux. */
const NOBODY = 65_534

/**
 * Takes pictures, each by a process of its own with the lowest priority, which knows nothing of the probe's secrets and is
 * killed with everything below it when its time is over.
 */
export function createShutter({ withinMs = WITHIN_MS, program, ...settings }: ShutterSettings): Shutter {
  const path = program ?? fileURLToPath(new URL('./screenshot.js', import.meta.url))
  const userId = process.getuid?.() === 0 ? NOBODY : null
  let kill = () => {}

  async function take(wanted: PictureWanted): Promise<PictureTaken> {
    const home = await mkdtemp(join(tmpdir(), 'picket-browser-'))
    try {
      if (userId !== null) await chown(home, userId, userId)
      const order: PictureOrder = { ...settings, ...wanted, userId, home, withinMs }
      return readPicture(await run(order))
    } finally {
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(() => {})
    }
  }

  function run(order: PictureOrder): Promise<Buffer> {
    const child = spawn('nice', ['-n', '19', process.execPath, path], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    })
    kill = () => void child.kill('SIGKILL')
    const stopWaiting = machine.after(withinMs + KILL_LATER_MS, kill)
    const chunks: Buffer[] = []
    let size = 0
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > PICTURE_LIMIT_BYTES + HEAD_AT_MOST_BYTES) kill()
      else chunks.push(chunk)
    })
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(order))
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', () => {
        stopWaiting()
        resolve(Buffer.concat(chunks))
      })
    })
  }

  return { take, stop: () => kill() }
}

function readPicture(output: Buffer): PictureTaken {
  const headEnd = output.indexOf('\n')
  if (headEnd < 0) throw new Error('the program that takes pictures ended without a word')
  const head = JSON.parse(output.subarray(0, headEnd).toString('utf8')) as PictureHead
  if ('error' in head) throw new Error(head.error)
  return { ...head, bytes: output.subarray(headEnd + 1) }
}
