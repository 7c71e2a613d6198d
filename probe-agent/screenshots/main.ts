import { startEgressProxy } from '../../shared/egress/http/proxy.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { machine } from '../clock.ts'
import type { CaptureHeader, CaptureRequest } from './capture-request.ts'
import { launchBrowser, NoSandboxError } from './chromium/launch.ts'
import { takePicture } from './picture.ts'
import { listDescendants, sumMemoryMb } from './process-tree.ts'

/** Limit for one page with everything that it loads. */
const MAX_PAGE_BYTES = 30 * 1024 * 1024
const CONNECT_TIMEOUT_MS = 5_000
const MEMORY_CHECK_INTERVAL_MS = 250
/** Limit for this program itself, which a page can flood with console messages. */
const OWN_MEMORY_MB = 400

/**
 * The program that takes one picture: a request on standard input, a picture on standard output. It is a separate process
 * so that neither the browser nor the page uses time or memory of the checks. The browser ends with it.
 */
async function main(): Promise<void> {
  const order = JSON.parse(await readInput()) as CaptureRequest
  const startedMs = machine.monotonicMs()
  const leftMs = () => order.withinMs - (machine.monotonicMs() - startedMs)
  machine.every(MEMORY_CHECK_INTERVAL_MS, () => {
    const isTooMuch =
      sumMemoryMb(listDescendants(process.pid)) > order.memoryMb || sumMemoryMb([process.pid]) > OWN_MEMORY_MB
    if (isTooMuch) end({ error: 'the page used too much memory' })
  })
  machine.after(order.withinMs, () => end({ error: 'the capture took too long' }))
  const proxy = await startEgressProxy(createEgress({ allow: order.egressAllow, deny: order.egressDeny }), {
    maxBytes: MAX_PAGE_BYTES,
    connectWithinMs: CONNECT_TIMEOUT_MS,
  })
  const { browser, hasSandbox } = await launchBrowser(order, proxy.url, leftMs())
  const { bytes, ...head } = await takePicture(browser, order, leftMs)
  end({ ...head, hasSandbox }, bytes)
}

let hasEnded = false

/** Kills all descendants and exits after the answer is written. */
function end(head: CaptureHeader, bytes: Buffer = Buffer.alloc(0)): void {
  if (hasEnded) return
  hasEnded = true
  for (const pid of listDescendants(process.pid)) kill(pid)
  process.stdout.write(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]), () => process.exit(0))
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // the process has already exited
  }
}

function endWithError(error: unknown): void {
  const text = String((error as Error).message ?? error).split('\n')[0] ?? ''
  end({ error: text, ...(error instanceof NoSandboxError && { hasSandbox: false }) })
}

process.on('uncaughtException', endWithError)
main().catch(endWithError)
