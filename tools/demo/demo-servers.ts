import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

type DemoTarget = { url: string; server: Server; isUp(): boolean; toggle(): void }

/** A target that answers 200 or, after each toggle, 503. */
export async function startDemoTarget(): Promise<DemoTarget> {
  let isUp = true
  const { server, url } = await listen((_request, response) => {
    response.writeHead(isUp ? 200 : 503, { 'content-type': 'text/plain' }).end(isUp ? 'up\n' : 'down\n')
  })
  return {
    url,
    server,
    isUp: () => isUp,
    toggle: () => {
      isUp = !isUp
    },
  }
}

type Webhook = {
  event: string
  data?: { monitor?: { name: string; status: string }; down_duration?: string | null }
  isSigned: boolean
  /** `, a replay` for a replayed delivery, else empty */
  attempt: string
}

type DemoReceiver = { url: string; server: Server; setSigningSecret(signingSecret: string): void }

/** Receives webhooks and verifies their signatures. */
export async function startWebhookReceiver(onWebhook: (webhook: Webhook) => void): Promise<DemoReceiver> {
  let secret = ''
  const { server, url } = await listen(async (request, response) => {
    const raw = await buffer(request)
    response.writeHead(200).end()
    const { event = '?', data } = JSON.parse(raw.toString('utf8'))
    const attempt = request.headers['x-service-delivery-retry'] ? ', a replay' : ''
    onWebhook({ event, data, isSigned: verify(raw, secret, request.headers['x-service-signature']), attempt })
  })
  return {
    url: `${url}webhook`,
    server,
    setSigningSecret: signingSecret => {
      secret = signingSecret
    },
  }
}

function verify(raw: Buffer, secret: string, header: string | string[] | undefined): boolean {
  const [algorithm, signature = ''] = String(header).split('=')
  const expected = Buffer.from(createHmac('sha256', secret).update(raw).digest('hex'))
  const given = Buffer.from(signature)
  return algorithm === 'sha256' && given.length === expected.length && timingSafeEqual(given, expected)
}

function listen(handle: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(handle)
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })
    })
  })
}
