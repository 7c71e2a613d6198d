import { spawn } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { machine } from '../clock.ts'
import { type CaptureHeader, type CaptureRequest, MAX_PICTURE_BYTES } from './capture-request.ts'
import { createBrowserProfile, removeBrowserProfile } from './chromium/browser-profile.ts'
import { type BrowserLocation, SETPRIV } from './chromium/find-browser.ts'
import { buildPriorityCommand } from './chromium/priority.ts'
import { getBrowserUserId } from './chromium/sandbox.ts'

export type CaptureSettings = {
  browser: BrowserLocation
  egressAllow: string[]
  egressDeny: string[]
  mayLackSandbox: boolean
  /** called after each start of a browser that got as far as that */
  onSandbox?: (works: boolean) => void
  /** for the browser and all its processes */
  memoryMb: number
  /** the program that takes one picture; default: the one beside this program */
  program?: string
  /** from its start to the picture */
  withinMs: number
}

export type CaptureTarget = Pick<CaptureRequest, 'url' | 'headers' | 'format'>
export type CapturedPicture = { statusCode: number; contentType: string; bytes: Buffer }

export type ScreenshotCapture = {
  /** Rejects when there is no picture; the message says why. */
  take: (wanted: CaptureTarget) => Promise<CapturedPicture>
  /** Ends what is under way. */
  stop: () => void
}

/** For a program that cannot end itself any more. */
const KILL_GRACE_MS = 1_000
const MAX_HEADER_BYTES = 4096
/** Behind every check, and before its browser, which it has to hold in bounds. */
const NICENESS = 10

/**
 * Takes pictures, each by a process of its own with low priority, which knows nothing of the probe's secrets, is killed
 * with everything below it when its time is over, and does not outlive the probe.
 */
export function createScreenshotCapture({
  withinMs,
  program,
  onSandbox,
  ...settings
}: CaptureSettings): ScreenshotCapture {
  const path = program ?? fileURLToPath(new URL('./screenshot.js', import.meta.url))
  const userId = getBrowserUserId()
  let stop = () => {}

  async function take(wanted: CaptureTarget): Promise<CapturedPicture> {
    const home = await createBrowserProfile()
    try {
      if (userId !== null) await chown(home, userId, userId)
      return readPicture(await run({ ...settings, ...wanted, userId, home, withinMs }), onSandbox)
    } finally {
      await removeBrowserProfile(home)
    }
  }

  function run(order: CaptureRequest): Promise<CaptureExit> {
    const child = spawn(
      SETPRIV,
      ['--pdeathsig=KILL', '--', ...buildPriorityCommand(NICENESS), process.execPath, path],
      {
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      },
    )
    const chunks: Buffer[] = []
    let size = 0
    let killedBecause: string | null = null
    const killBecause = (why: string) => {
      killedBecause ??= why
      child.kill('SIGKILL')
    }
    stop = () => killBecause('the probe stops')
    // a machine that is busy with checks may leave the program no time to say so itself
    const stopWaiting = machine.after(withinMs + KILL_GRACE_MS, () => killBecause('it took too long'))
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_PICTURE_BYTES + MAX_HEADER_BYTES) killBecause('the picture is too large')
      else chunks.push(chunk)
    })
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(order))
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => {
        stopWaiting()
        const why = killedBecause ?? `the program that takes pictures ended by itself (${signal ?? code})`
        resolve({ output: Buffer.concat(chunks), isWhole: code === 0, why })
      })
    })
  }

  return { take, stop: () => stop() }
}

/** `isWhole`: nothing is missing at the end of its output. `why` it ended, when it did not say so itself. */
type CaptureExit = { output: Buffer; isWhole: boolean; why: string }

function readPicture({ output, isWhole, why }: CaptureExit, onSandbox: CaptureSettings['onSandbox']): CapturedPicture {
  const headEnd = output.indexOf('\n')
  if (headEnd < 0) throw new Error(why)
  const head = JSON.parse(output.subarray(0, headEnd).toString('utf8')) as CaptureHeader
  if (head.hasSandbox !== undefined) onSandbox?.(head.hasSandbox)
  if ('error' in head) throw new Error(head.error)
  if (!isWhole) throw new Error(why)
  const { statusCode, contentType } = head
  return { statusCode, contentType, bytes: output.subarray(headEnd + 1) }
}
