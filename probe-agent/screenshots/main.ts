import { createEgress } from '../../shared/egress/index.ts'
import { startEgressProxy } from '../../shared/egress/proxy.ts'
import { machine } from '../clock.ts'
import { memoryMb, processesBelow } from './below.ts'
import { NoSandboxError, openBrowser } from './browser.ts'
import type { PictureHead, PictureOrder } from './order.ts'
import { takePicture } from './picture.ts'

/** Of one page with all that it loads. */
const PAGE_AT_MOST_BYTES = 30 * 1024 * 1024
const CONNECT_WITHIN_MS = 5_000
const LOOK_AT_MEMORY_EVERY_MS = 250
/** Of this program itself, which a page can flood with what it tells the browser's console. */
const OWN_MEMORY_MB = 400

/**
 * The program that takes one picture: an order on standard input, a picture on standard output. A process of its own,
 * so that neither the browser nor what a page sends takes time or memory from the checks; whatever happens to it, the
 * probe goes on. The browser dies with it.
 */
async function main(): Promise<void> {
  const order = JSON.parse(await readInput()) as PictureOrder
  const startedMs = machine.monotonicMs()
  const leftMs = () => order.withinMs - (machine.monotonicMs() - startedMs)
  machine.every(LOOK_AT_MEMORY_EVERY_MS, () => {
    const isTooMuch = memoryMb(processesBelow(process.pid)) > order.memoryMb || memoryMb([process.pid]) > OWN_MEMORY_MB
    if (isTooMuch) end({ error: 'the page took too much memory' })
  })
  machine.after(order.withinMs, () => end({ error: 'it took too long' }))
  const proxy = await startEgressProxy(createEgress({ allow: order.egressAllow, deny: order.egressDeny }), {
    maxBytes: PAGE_AT_MOST_BYTES,
    connectWithinMs: CONNECT_WITHIN_MS,
  })
  const { browser, hasSandbox } = await openBrowser(order, proxy.url, leftMs())
  const { bytes, ...head } = await takePicture(browser, order, leftMs)
  end({ ...head, hasSandbox }, bytes)
}

let hasEnded = false

/** Ends all that runs below and exits when the answer is written. */
function end(head: PictureHead, bytes: Buffer = Buffer.alloc(0)): void {
  if (hasEnded) return
  hasEnded = true
  for (const pid of processesBelow(process.pid)) kill(pid)
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
    // it has just ended by itself
  }
}

function giveUp(error: unknown): void {
  const text = String((error as Error).message ?? error).split('\n')[0] ?? ''
  end({ error: text, ...(error instanceof NoSandboxError && { hasSandbox: false }) })
}

process.on('uncaughtException', giveUp)
main().catch(giveUp)
