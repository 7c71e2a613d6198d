import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** MADV_DONTNEED of Linux: the pages leave this process, and come back from the file when they are read again. */
const NOT_NEEDED = 4

/**
 * Pages of a library's file that this process has read so far no longer count as its memory; what is still used comes
 * back by itself. Most of them were read once, at its start. Only of parts that cannot have been written: they hold no
 * page that differs from the file. Does nothing where there is no /proc, or no koffi for this platform.
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

/** Pages that the loader has changed are anonymous, or in swap. */
const hasNoPageOfItsOwn = (part: string) => /^Anonymous: +0 kB$/m.test(part) && /^Swap: +0 kB$/m.test(part)

/** The parts of /proc/self/smaps that map a file of this name, may not be written and have no page of their own. */
export function findUnwrittenRanges(smaps: string, library: string): { start: bigint; length: bigint }[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap(part => {
    const [head = ''] = part.split('\n', 1)
    const [, from, to, rights] = /^([0-9a-f]+)-([0-9a-f]+) (\S+) /.exec(head) ?? []
    if (from === undefined || to === undefined || !head.endsWith(`/${library}`)) return []
    if (rights?.includes('w') || !hasNoPageOfItsOwn(part)) return []
    const start = BigInt(`0x${from}`)
    return [{ start, length: BigInt(`0x${to}`) - start }]
  })
}
