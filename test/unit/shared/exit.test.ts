import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'

const LINES = 100_000

/** A process that writes more than a pipe holds, says so on standard error, and ends with exit code 3. */
function startWriter(timeoutMs?: number): ChildProcess {
  const program = `
    import { exitAfterOutput } from './shared/process/exit.ts'
    for (let line = 1; line <= ${LINES}; line++) process.stdout.write(line + '\\n')
    process.stderr.write('written\\n', () => exitAfterOutput(3${timeoutMs === undefined ? '' : `, ${timeoutMs}`}))`
  return spawn(process.execPath, ['--import=tsx', '--input-type=module', '--eval', program])
}

t.test('A process that ends loses no line when its output is read late', async t => {
  const writer = startWriter(Number.POSITIVE_INFINITY)
  const closed = once(writer, 'close')
  await once(writer.stderr!, 'data')
  t.match(await text(writer.stdout!), new RegExp(`\n${LINES}\n$`))
  t.same(await closed, [3, null])
})

t.test(
  'A process ends after its limit when its output is not read, and immediately when its reader is gone',
  async t => {
    const unread = startWriter(200)
    t.same(await once(unread, 'exit'), [3, null])
    unread.stdout!.destroy()
    const abandoned = startWriter(Number.POSITIVE_INFINITY)
    abandoned.stdout!.destroy()
    t.same(await once(abandoned, 'exit'), [3, null])
  },
)
