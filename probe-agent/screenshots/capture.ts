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
  /** called after each start of a browser with whether its sandbox works */
  onSandbox?: (works: boolean) => void
  /** limit for the browser and all its processes */
  memoryMb: number
  /** path of the program that takes one picture; default: next to this program */
  program?: string
  /** from its start to the picture */
  withinMs: number
}

type CaptureTarget = Pick<CaptureRequest, 'url' | 'headers' | 'format'>
type CapturedPicture = { statusCode: number; contentType: string; bytes: Buffer }

export type ScreenshotCapture = {
  /** Rejects with the reason when the capture fails. */
  take: (wanted: CaptureTarget) => Promise<CapturedPicture>
  /** Stops the current capture. */
  stop: () => void
  /** the limit of one capture */
  withinMs: number
}

/** Additional time before a program that does not exit is killed. */
const KILL_GRACE_MS = 1_000
const MAX_HEADER_BYTES = 4096
/** Below the checks, and above the browser, which the program has to limit. */
const NICENESS = 10

/**
 * Takes each picture in a separate process of low priority. The process has no secrets of the probe, is killed with all its
 * descendants when its time is over, and ends with the probe.
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
    stop = () => killBecause('the probe is stopping')
    // on a busy machine the program may not be able to end itself in time
    const stopWaiting = machine.after(withinMs + KILL_GRACE_MS, () => killBecause('the capture took too long'))
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
        const why = killedBecause ?? `the capture process exited unexpectedly (${signal ?? code})`
        resolve({ output: Buffer.concat(chunks), isComplete: code === 0, why })
      })
    })
  }

  return { take, stop: () => stop(), withinMs }
}

/** `isComplete`: the output is complete. `why`: the reason for the exit, if the output does not contain one. */
type CaptureExit = { output: Buffer; isComplete: boolean; why: string }

function readPicture(
  { output, isComplete, why }: CaptureExit,
  onSandbox: CaptureSettings['onSandbox'],
): CapturedPicture {
  const headEnd = output.indexOf('\n')
  if (headEnd < 0) throw new Error(why)
  const head = JSON.parse(output.subarray(0, headEnd).toString('utf8')) as CaptureHeader
  if (head.hasSandbox !== undefined) onSandbox?.(head.hasSandbox)
  if ('error' in head) throw new Error(head.error)
  if (!isComplete) throw new Error(why)
  const { statusCode, contentType } = head
  return { statusCode, contentType, bytes: output.subarray(headEnd + 1) }
}
