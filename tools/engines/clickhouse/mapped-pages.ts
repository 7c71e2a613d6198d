import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** MADV_DONTNEED of Linux: the pages are released, and read from the file again when needed. */
const NOT_NEEDED = 4

/**
 * Releases the pages of a library's file that this process has read; pages that are still used are read again. Most of them
 * were read only at the start. Only parts without modified pages are released. Does nothing without /proc or koffi.
 */
export function releasePages(library: string): void {
  if (advise === undefined) advise = openAdvise()
  if (advise === null) return
  for (const { start, length } of findUnwrittenRanges(readSmaps(), library)) advise(start, length, NOT_NEEDED)
}

type Advise = (start: bigint, length: bigint, advice: number) => number
/** undefined: not looked for yet */
let advise: Advise | null | undefined

function openAdvise(): Advise | null {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi')
    return koffi.load(null).func('int madvise(uintptr_t start, size_t length, int advice)') as Advise
  } catch {
    // an optional dependency
    return null
  }
}

function readSmaps(): string {
  try {
    return readFileSync('/proc/self/smaps', 'utf8')
  } catch {
    return ''
  }
}

/** Pages that the loader has modified are anonymous, or in swap. */
const hasNoModifiedPage = (part: string) => /^Anonymous: +0 kB$/m.test(part) && /^Swap: +0 kB$/m.test(part)

/** The ranges of /proc/self/smaps that map a file of this name, are not writable and have no modified pages. */
export function findUnwrittenRanges(smaps: string, library: string): { start: bigint; length: bigint }[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap(part => {
    const [head = ''] = part.split('\n', 1)
    const [, from, to, rights] = /^([0-9a-f]+)-([0-9a-f]+) (\S+) /.exec(head) ?? []
    if (from === undefined || to === undefined || !head.endsWith(`/${library}`)) return []
    if (rights?.includes('w') || !hasNoModifiedPage(part)) return []
    const start = BigInt(`0x${from}`)
    return [{ start, length: BigInt(`0x${to}`) - start }]
  })
}
