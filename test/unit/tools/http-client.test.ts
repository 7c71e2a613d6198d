import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { sendRequest } from '../../support/http-client.ts'
import { listenUntilEnd } from '../../support/listening.ts'

/** Answers with what it received, in JSON. */
const server = createServer(async (request, response) => {
  const { method, url, headers } = request
  const body = (await buffer(request)).toString('hex')
  if (url === '/broken') return response.writeHead(200, { 'content-length': '9' }).write('x', () => response.destroy())
  response.writeHead(url === '/moved' ? 302 : 200, [
    ...['location', '/elsewhere', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'vary', 'origin', 'vary', 'accept'],
  ])
  response.end(method === 'HEAD' ? '' : JSON.stringify({ method, url, headers, body, text: 'Küche' }))
})
const origin = `http://127.0.0.1:${await listenUntilEnd(t, server, '127.0.0.1')}`

t.test('A request has the headers that fetch adds, and those that are given', async t => {
  const { status, text } = await sendRequest(`${origin}/a b?c=d`, { method: 'GET', headers: { 'x-key': 'k' } })
  t.equal(status, 200)
  const { host } = new URL(origin)
  const own = { accept: '*/*', 'accept-language': '*', 'user-agent': 'node', 'sec-fetch-mode': 'cors' }
  const headers = { ...own, 'x-key': 'k', host, connection: 'keep-alive' }
  t.same(JSON.parse(text), { method: 'GET', url: '/a%20b?c=d', headers, body: '', text: 'Küche' })
  const named = await sendRequest(origin, { method: 'GET', headers: { accept: 'text/html' } })
  t.equal(JSON.parse(named.text).headers.accept, 'text/html')
})

t.test('A body is sent unchanged, with its length in bytes, for each method', async t => {
  const bodies = ['', 'Küche', new Uint8Array([0, 255, 10])]
  for (const method of ['POST', 'PUT', 'DELETE']) {
    for (const body of bodies) {
      const bytes = Buffer.from(body as string)
      const { text } = await sendRequest(origin, { method, headers: {}, body })
      const received = { method, body: bytes.toString('hex'), headers: { 'content-length': String(bytes.length) } }
      t.match(JSON.parse(text), received)
      t.notOk(JSON.parse(text).headers['transfer-encoding'])
    }
  }
})

t.test('A response has its status, its text and all of its headers; a redirect is not followed', async t => {
  const { status, headers, text } = await sendRequest(`${origin}/moved`, { method: 'GET', headers: {} })
  t.equal(status, 302)
  t.equal(headers.get('location'), '/elsewhere')
  t.same(headers.getSetCookie(), ['a=1', 'b=2'])
  t.equal(headers.get('Vary'), 'origin, accept')
  t.equal(JSON.parse(text).url, '/moved')
  t.equal((await sendRequest(origin, { method: 'HEAD', headers: {} })).text, '')
})

t.test(
  'A request rejects when the connection fails before or during the response, or when a header is invalid',
  async t => {
    const get = (address: string, headers = {}) => sendRequest(address, { method: 'GET', headers })
    await t.rejects(get('http://127.0.0.1:1/'), { code: 'ECONNREFUSED' })
    await t.rejects(get(`${origin}/broken`))
    await t.rejects(get(origin, { 'x-key': 'a\nb' }))
  },
)
