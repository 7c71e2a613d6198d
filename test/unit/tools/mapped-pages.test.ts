import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import t from 'tap'
import { findUnwrittenRanges, releasePages } from '../../../tools/engines/clickhouse/mapped-pages.ts'

const part = (range: string, rights: string, file: string, anonymousKb: number, swapKb = 0) => `\
${range} ${rights} 00000000 fe:00 5312256                    ${file}
Size:               1024 kB
Rss:                  64 kB
Anonymous:      ${String(anonymousKb).padStart(8)} kB
AnonHugePages:         0 kB
Swap:           ${String(swapKb).padStart(8)} kB
SwapPss:               0 kB
VmFlags: rd ex mr mw me`

t.test('Only unmodified parts of the file are released', async t => {
  const smaps = [
    part('00001000-00002000', 'r-xp', '/usr/bin/node', 0),
    part('7f0000000000-7f0000001000', 'r--p', '/a/libchdb.so', 0),
    part('7f0000001000-7f0000004000', 'r-xp', '/a/libchdb.so', 0),
    part('7f0000004000-7f0000005000', 'r--p', '/a/libchdb.so', 12),
    part('7f0000005000-7f0000006000', 'rw-p', '/a/libchdb.so', 0),
    part('7f0000005000-7f0000006000', 'r--p', '/a/libchdb.so', 0, 640),
    part('7f0000006000-7f0000007000', 'r-xp', '/a/not-libchdb.so', 0),
    part('7f0000007000-7f0000008000', 'rw-p', '', 4),
  ].join('\n')
  t.same(findUnwrittenRanges(smaps, 'libchdb.so'), [
    { start: 0x7f0000000000n, length: 0x1000n },
    { start: 0x7f0000001000n, length: 0x3000n },
  ])
  t.same(findUnwrittenRanges('', 'libchdb.so'), [])
})

t.test('A program uses less memory after its pages are released, and continues to work', async t => {
  const file = basename(process.execPath)
  const residentKb = () =>
    readFileSync('/proc/self/smaps', 'utf8')
      .split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)
      .filter(one => one.split('\n', 1)[0]!.endsWith(`/${file}`))
      .reduce((sum, one) => sum + Number(/^Rss: +(\d+) kB$/m.exec(one)?.[1] ?? 0), 0)
  const before = residentKb()
  releasePages(file)
  t.ok(residentKb() < before, 'less of the file is mapped')
  t.equal(JSON.parse('{"a":[1,2,3]}').a.length, 3)
})
