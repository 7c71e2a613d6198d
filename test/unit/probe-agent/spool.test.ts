import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { machine } from '../../../probe-agent/clock.ts'
import { openSpool, type Spool } from '../../../probe-agent/results/spool.ts'
import { createLog } from '../../../shared/process/log.ts'
import type { Teardown } from '../../support/teardown.ts'

const log = createLog('test', 'silent')

function directoryFor(t: Teardown): string {
  const directory = mkdtempSync(join(tmpdir(), 'picket-spool-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function openFor(t: Teardown, directory: string, maxBytes = 1024 ** 3): Spool {
  const spool = openSpool({ directory, maxBytes, machine, log })
  t.teardown(() => spool.close())
  return spool
}

const record = (text: string) => ({ partition: 3, probeId: 'p1', piece: Buffer.from(text) })
const texts = async (spool: Spool, atMost = 100) =>
  (await spool.peek(atMost)).map(({ piece }) => Buffer.from(piece).toString())

t.test('Late results are returned in order until they are delivered', async t => {
  const directory = directoryFor(t)
  const spool = openFor(t, directory)
  for (const text of ['a', 'b', 'c']) spool.release(spool.append(record(text)))
  t.same(await texts(spool, 2), ['a', 'b'])
  t.same(await texts(spool, 2), ['a', 'b'])
  t.equal(spool.waiting(), 3)
  await spool.consume()
  t.equal(spool.waiting(), 1)
  t.same(await texts(spool), ['c'])
  await spool.consume()
  t.equal(spool.waiting(), 0)
  t.same(await texts(spool), [])
  t.equal(spool.bytes(), 0)
  t.same(readdirSync(directory), [], 'nothing is left on disk')
})

t.test('Results delivered from memory are skipped, and results still in memory are waited for', async t => {
  const spool = openFor(t, directoryFor(t))
  const [a, b, c] = ['a', 'b', 'c'].map(text => spool.append(record(text)))
  spool.release(a!)
  t.same(await texts(spool), ['a'])
  await spool.consume()
  t.same(await texts(spool), [], 'b is held')
  spool.delivered(b!)
  t.same(await texts(spool), [], 'c is held')
  t.equal(spool.waiting(), 1)
  spool.release(c!)
  t.same(await texts(spool), ['c'])
  t.equal(spool.dropped(), 0)
})

t.test('After a restart all undelivered results are late, also after a kill', async t => {
  const directory = directoryFor(t)
  const before = openFor(t, directory)
  for (const text of ['a', 'b']) before.append(record(text))
  await before.close()
  const [file] = readdirSync(directory)
  appendFileSync(join(directory, file!), Buffer.from([0, 0, 0, 50, 1, 2, 3]))

  const after = openFor(t, directory)
  after.append(record('held by the new run'))
  t.same(await texts(after), ['a', 'b'])
  t.equal(after.waiting(), 3, 'those of the run before count')
  await after.consume()
  t.same(await texts(after), [])
  t.equal(after.waiting(), 1)
})

t.test('A full spool deletes its oldest results and counts them', async t => {
  const spool = openFor(t, directoryFor(t), 3 * 1024 * 1024)
  const text = 'x'.repeat(1000)
  for (let round = 0; round < 8; round++) {
    for (let i = 0; i < 1000; i++) spool.release(spool.append(record(`${round}${text}`)))
    await spool.peek(0)
  }
  t.ok(spool.bytes() <= 3 * 1024 * 1024, `${spool.bytes()} bytes`)
  const kept = await spool.peek(10_000)
  t.ok(kept.length >= 1000)
  t.equal(spool.waiting() + spool.dropped(), 8000, 'each is waiting or was dropped')
  t.ok(spool.dropped() >= 4000 && spool.dropped() <= 7000, `${spool.dropped()} dropped`)
  t.not(Buffer.from(kept[0]!.piece).toString()[0], '0', 'the oldest are gone')
})

t.test('A failing disk loses only the results that memory could not deliver', async t => {
  const directory = directoryFor(t)
  const spool = openFor(t, directory)
  rmSync(directory, { recursive: true })
  writeFileSync(directory, 'in the way')
  const [a, b] = ['a', 'b'].map(text => spool.append(record(text)))
  await spool.peek(0)
  spool.delivered(a!)
  t.equal(spool.dropped(), 0)
  spool.release(b!)
  t.equal(spool.dropped(), 1)
  t.same(await texts(spool), [])
  t.notOk(spool.isWritable())
  rmSync(directory)
  mkdirSync(directory)
  spool.append(record('c'))
  await spool.peek(0)
  t.ok(spool.isWritable(), 'the disk works again')
})

t.test('A disk that fails while the next result arrives keeps both in the count', async t => {
  const directory = directoryFor(t)
  const spool = openFor(t, directory)
  rmSync(directory, { recursive: true })
  writeFileSync(directory, 'in the way')
  const a = spool.append(record('a'))
  await Promise.resolve()
  const b = spool.append(record('b'))
  await spool.peek(0)
  for (const seq of [a, b]) spool.release(seq)
  t.equal(spool.dropped(), 2)
})

t.test('The file is synced a second after a write, and an idle spool has no timer', async t => {
  const timers: (() => void)[] = []
  const after = (ms: number, work: () => void) => {
    t.equal(ms, 1_000)
    timers.push(work)
    return () => {}
  }
  const spool = openSpool({ directory: directoryFor(t), maxBytes: 1024 ** 3, machine: { ...machine, after }, log })
  t.teardown(() => spool.close())
  await spool.peek(1)
  t.equal(timers.length, 0)
  for (const text of ['a', 'b']) {
    spool.append(record(text))
    await spool.peek(1)
  }
  t.equal(timers.length, 1, 'one for all writes until the sync')
  timers[0]!()
  await spool.peek(1)
  spool.append(record('c'))
  await spool.peek(1)
  t.equal(timers.length, 2, 'the next write is synced as well')
})
