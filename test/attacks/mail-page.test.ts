import t from 'tap'
import { startMailSink } from '../../tools/mail/sink.ts'
import { rawAsk } from '../support/raw-ask.ts'

const sink = await startMailSink(0, () => {})
t.teardown(sink.stop)
const { port, pathname } = new URL(sink.pageUrl)

const readStatus = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  (await rawAsk(`http://127.0.0.1:${port}`, path, { headers, method })).status

t.test('The mail page opens only at the address that npm start printed', async t => {
  for (const path of [pathname, `${pathname}/`]) t.equal(await readStatus(path), 200, path)
  t.equal(await readStatus(pathname, { host: `localhost:${port}` }), 200)
  const guesses = [
    '/',
    '/mails/1',
    '/mails/1/html',
    `${pathname}x`,
    pathname.slice(0, -1),
    `/x${pathname}`,
    '//',
    '/..',
  ]
  for (const path of guesses) t.equal(await readStatus(path), 403, path)
})

t.test('The mail page refuses other web pages, and other names of this machine', async t => {
  const refused: Record<string, string>[] = [
    { host: 'evil.example' },
    { host: `evil.example:${port}` },
    { host: 'localhost' },
    { host: `localhost:${Number(port) + 1}` },
    { host: `127.0.0.1.evil.example:${port}` },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ]
  for (const headers of refused) {
    t.equal(await readStatus(pathname, headers), 403, JSON.stringify(headers))
    t.equal(await readStatus(pathname, headers, 'POST'), 403, JSON.stringify(headers))
  }
})
